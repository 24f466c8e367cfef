! Weighted sum over the 3x3 neighbourhood: centre, edge neighbours, corners.
subroutine jacobi(nx, ny, c0, c1, c2, w0, w1) bind(c)
  use iso_c_binding, only: c_int, c_float
  implicit none
  integer(c_int), value :: nx, ny
  real(c_float), value :: c0, c1, c2
  real(c_float), intent(in) :: w0(nx, ny)
  real(c_float), intent(inout) :: w1(nx, ny)
  integer(c_int) :: i, j

  !$acc kernels loop independent gang(65535) present(w0, w1)
  do j = 2, ny - 1
    !$acc loop independent vector(512)
    do i = 2, nx - 1
      w1(i, j) = c0 * w0(i, j) + &
                 c1 * (w0(i - 1, j) + w0(i, j - 1) + w0(i + 1, j) + w0(i, j + 1)) + &
                 c2 * (w0(i - 1, j - 1) + w0(i - 1, j + 1) + w0(i + 1, j - 1) + w0(i + 1, j + 1))
    end do
  end do
end subroutine jacobi
