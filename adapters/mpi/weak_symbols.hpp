// The MPI symbols of this library. They are weak, so that a program without MPI, such as a shell that starts an MPI
// program, can load it.
#ifndef ADAPTYST_ADAPTERS_MPI_WEAK_SYMBOLS_HPP
#define ADAPTYST_ADAPTERS_MPI_WEAK_SYMBOLS_HPP

#include <mpi.h>

#ifndef ADAPTYST_MPI_LINKED
#pragma weak MPI_Comm_rank
#pragma weak MPI_Comm_set_errhandler
#pragma weak MPI_Comm_size
#pragma weak MPI_Finalized
#pragma weak MPI_Get_count
#pragma weak MPI_Initialized
#pragma weak PMPI_Comm_create_keyval
#pragma weak PMPI_Comm_get_attr
#pragma weak PMPI_Comm_get_name
#pragma weak PMPI_Comm_group
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_remote_size
#pragma weak PMPI_Comm_set_attr
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Comm_test_inter
#pragma weak PMPI_Group_free
#pragma weak PMPI_Group_translate_ranks
#pragma weak PMPI_Type_size
#ifdef OPEN_MPI  // its constants are objects; MPICH's are numbers
#pragma weak OMPI_C_MPI_COMM_NULL_COPY_FN
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_errors_return
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_info_null
#pragma weak ompi_request_null
#endif
#endif

#endif
