! Matrix product C += A B: A is nx by nz, B nz by ny.
subroutine matmul(nx, ny, nz, a, b, c) bind(c)
  use iso_c_binding, only: c_int, c_float
  implicit none
  integer(c_int), value :: nx, ny, nz
  real(c_float), intent(in) :: a(nx, nz), b(nz, ny)
  real(c_float), intent(inout) :: c(nx, ny)
  integer(c_int) :: i, j, k

  !$acc kernels loop independent gang(65535) present(a, b, c)
  do j = 1, ny
    !$acc loop independent vector(512)
    do i = 1, nx
      !$acc loop seq
      do k = 1, nz
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
end subroutine matmul
