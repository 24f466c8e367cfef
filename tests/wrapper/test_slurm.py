"""A job array of one node puts together what one process prints. Skipped where Slurm is not installed
(Debian: slurm-wlm) or its daemons may not be started, which takes root."""

import os
import pwd
import shutil
import socket
import subprocess
import time
import unittest

from support import PTXASW, Scratch, main, run

PROGRAMS = ("sbatch", "sinfo", "slurmctld", "slurmd", "munged", "mungekey")
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
SlurmUser=root
SlurmctldPort={port}
SlurmdPort={port2}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""
KERNEL = ".visible .entry k{0}(.param .u64 p)\n{{\n.reg .b64 %rd<2>;\n.reg .f32 %f<2>;\nld.param.u64 %rd1, [p];\n" \
         "ld.global.f32 %f1, [%rd1+{0}];\nst.global.f32 [%rd1+64], %f1;\nret;\n}}\n"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Slurm(Scratch):
    def start(self, *words):
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def wait_for(self, what, condition):
        for _ in range(6000):  # only to end a hang
            if condition():
                return
            time.sleep(0.1)
        self.fail(f"no {what} within ten minutes")

    def test_a_job_array(self):
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        missing = [program for program in PROGRAMS if not shutil.which(program)]
        if missing or os.getuid() != 0:
            self.skipTest(f"no {missing[0]}" if missing else "not root")
        munge = self.dir / "munge"
        munge.mkdir(mode=0o711)
        os.chmod(self.dir, 0o755)
        owner = pwd.getpwnam("munge")
        self.environment = {**os.environ, "SLURM_CONF": str(self.dir / "slurm.conf")}
        subprocess.run(["mungekey", "-c", "-k", munge / "key"], check=True)
        for path in (munge, munge / "key"):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        self.start("setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups", "munged", "-F",
                   f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                   f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait_for("munged", (munge / "socket").exists)
        host = socket.gethostname().split(".")[0]
        self.write("slurm.conf", CONFIGURATION.format(host=host, folder=self.dir, port=free_port(), port2=free_port()))
        for folder in ("state", "spool"):
            (self.dir / folder).mkdir()
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", host)
        self.wait_for("node", lambda: "idle" in subprocess.run(
            ["sinfo", "-h", "-o", "%T"], env=self.environment, capture_output=True, text=True).stdout)

        ptx = self.write("in.ptx", ".version 7.8\n.target sm_60\n.address_size 64\n" +
                         "".join(KERNEL.format(4 * i) for i in range(5)))
        job = self.write("job.sh", "#!/bin/sh\n#SBATCH --array=1-4\n"
                         f'{PTXASW} explain --trace {ptx} --shard "$SLURM_ARRAY_TASK_ID/4" > "part-$SLURM_ARRAY_TASK_ID.txt"\n')
        done = subprocess.run(["sbatch", "--wait", "--chdir", self.dir, job], env=self.environment, timeout=120,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        parts = "".join((self.dir / f"part-{i}.txt").read_text() for i in range(1, 5))
        self.assertEqual(parts, run([PTXASW, "explain", "--trace", ptx]).stdout)
        self.assertNotEqual(parts, "")


if __name__ == "__main__":
    main()
