#pragma once

// Each folder has a namespace, and this is who sees whose names without saying where they are from:
// a layer those below it, as its includes go (tests/layers), and tests all, and the namespaces' own
// names (`facts::`).

namespace ptxasw {
namespace ptx {}
namespace emulator {
using namespace ptx;
}
namespace facts {
using namespace emulator;
}
namespace proof {
using namespace emulator;
}
namespace analysis {
using namespace emulator;
}
namespace synth {
using namespace analysis;
}
namespace wrapper {
using namespace synth;
}
namespace test {
using namespace ptxasw;
using namespace wrapper;
}
namespace conformance {
using namespace test;
}
namespace emulator_test {
using namespace test;
}
namespace scaling {
using namespace test;
}
} // namespace ptxasw
