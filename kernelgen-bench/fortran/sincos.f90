! Sine of one array plus cosine of another: long arithmetic, nothing to share between lanes. The
! subroutine has a longer name than its file because `sincos` is a function of the C library.
subroutine sincos_xy(nx, ny, nz, x, y, xy) bind(c)
  use iso_c_binding, only: c_int, c_float
  implicit none
  integer(c_int), value :: nx, ny, nz
  real(c_float), intent(in) :: x(nx, ny, nz), y(nx, ny, nz)
  real(c_float), intent(inout) :: xy(nx, ny, nz)
  integer(c_int) :: i, j, k

  !$acc kernels loop independent gang(65535) present(x, y, xy)
  do k = 1, nz
    !$acc loop independent
    do j = 1, ny
      !$acc loop independent vector(512)
      do i = 1, nx
        xy(i, j, k) = sin(x(i, j, k)) + cos(y(i, j, k))
      end do
    end do
  end do
end subroutine sincos_xy
