      subroutine physics()
      use adaptyst
      implicit none
      call adaptyst_begin('physics')
      call adaptyst_metric('cells', 8)
      call adaptyst_end()
      end
