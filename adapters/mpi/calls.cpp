// The functions of MPI that send, receive, wait or are collective: each becomes a region.
//
// A program calls MPI_Send. Open MPI's Fortran bindings and other tools call PMPI_Send. This library therefore defines
// both names. It passes the call on to the next MPI_Send in the order in which libraries were loaded, which may be
// another tool's. Calls that this tool, or MPI itself, makes during such a call go to MPI's own PMPI_Send, and are no
// regions.
#include "calls.hpp"

using namespace adaptyst::mpi_calls;

// ---- messages between two ranks -------------------------------------------------------------------------------------

ADAPTYST_MPI_CALL(Send,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator),
                  (buffer, count, type, destination, tag, communicator),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Bsend,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator),
                  (buffer, count, type, destination, tag, communicator),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Ssend,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator),
                  (buffer, count, type, destination, tag, communicator),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Rsend,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator),
                  (buffer, count, type, destination, tag, communicator),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Recv,
                  (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                   MPI_Status* status),
                  (buffer, count, type, from, tag, communicator, status), message(no_bytes, from, communicator))
ADAPTYST_MPI_CALL(Mrecv, (void* buffer, int count, MPI_Datatype type, MPI_Message* matched, MPI_Status* status),
                  (buffer, count, type, matched, status), no_message())
ADAPTYST_MPI_CALL(Sendrecv,
                  (const void* sent, int send_count, MPI_Datatype send_type, int destination, int send_tag,
                   void* received, int receive_count, MPI_Datatype receive_type, int from, int receive_tag,
                   MPI_Comm communicator, MPI_Status* status),
                  (sent, send_count, send_type, destination, send_tag, received, receive_count, receive_type, from,
                   receive_tag, communicator, status),
                  message(bytes(send_count, send_type), destination, communicator))
ADAPTYST_MPI_CALL(Sendrecv_replace,
                  (void* buffer, int count, MPI_Datatype type, int destination, int send_tag, int from, int receive_tag,
                   MPI_Comm communicator, MPI_Status* status),
                  (buffer, count, type, destination, send_tag, from, receive_tag, communicator, status),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Probe, (int from, int tag, MPI_Comm communicator, MPI_Status* status),
                  (from, tag, communicator, status), message(no_bytes, from, communicator))
ADAPTYST_MPI_CALL(Mprobe, (int from, int tag, MPI_Comm communicator, MPI_Message* matched, MPI_Status* status),
                  (from, tag, communicator, matched, status), message(no_bytes, from, communicator))
ADAPTYST_MPI_CALL(Iprobe, (int from, int tag, MPI_Comm communicator, int* is_done, MPI_Status* status),
                  (from, tag, communicator, is_done, status), message(no_bytes, from, communicator))
ADAPTYST_MPI_CALL(Improbe,
                  (int from, int tag, MPI_Comm communicator, int* is_done, MPI_Message* matched, MPI_Status* status),
                  (from, tag, communicator, is_done, matched, status), message(no_bytes, from, communicator))
ADAPTYST_MPI_CALL(Isend,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator,
                   MPI_Request* request),
                  (buffer, count, type, destination, tag, communicator, request),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Ibsend,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator,
                   MPI_Request* request),
                  (buffer, count, type, destination, tag, communicator, request),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Issend,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator,
                   MPI_Request* request),
                  (buffer, count, type, destination, tag, communicator, request),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Irsend,
                  (const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm communicator,
                   MPI_Request* request),
                  (buffer, count, type, destination, tag, communicator, request),
                  message(bytes(count, type), destination, communicator))
ADAPTYST_MPI_CALL(Irecv,
                  (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
                   MPI_Request* request),
                  (buffer, count, type, from, tag, communicator, request), message(no_bytes, from, communicator))
ADAPTYST_MPI_CALL(Imrecv, (void* buffer, int count, MPI_Datatype type, MPI_Message* matched, MPI_Request* request),
                  (buffer, count, type, matched, request), no_message())
ADAPTYST_MPI_CALL(Start, (MPI_Request * request), (request), no_message())
ADAPTYST_MPI_CALL(Startall, (int count, MPI_Request* requests), (count, requests), no_message())

// ---- waiting and testing --------------------------------------------------------------------------------------------

ADAPTYST_MPI_CALL(Wait, (MPI_Request * request, MPI_Status* status), (request, status), no_message())
ADAPTYST_MPI_CALL(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses), (count, requests, statuses),
                  no_message())
ADAPTYST_MPI_CALL(Waitany, (int count, MPI_Request* requests, int* index, MPI_Status* status),
                  (count, requests, index, status), no_message())
ADAPTYST_MPI_CALL(Waitsome, (int count, MPI_Request* requests, int* done_count, int* indices, MPI_Status* statuses),
                  (count, requests, done_count, indices, statuses), no_message())
ADAPTYST_MPI_CALL(Test, (MPI_Request * request, int* is_done, MPI_Status* status), (request, is_done, status),
                  no_message())
ADAPTYST_MPI_CALL(Testall, (int count, MPI_Request* requests, int* is_done, MPI_Status* statuses),
                  (count, requests, is_done, statuses), no_message())
ADAPTYST_MPI_CALL(Testany, (int count, MPI_Request* requests, int* index, int* is_done, MPI_Status* status),
                  (count, requests, index, is_done, status), no_message())
ADAPTYST_MPI_CALL(Testsome, (int count, MPI_Request* requests, int* done_count, int* indices, MPI_Status* statuses),
                  (count, requests, done_count, indices, statuses), no_message())

// ---- collective calls -----------------------------------------------------------------------------------------------

ADAPTYST_MPI_COLLECTIVE_CALL(Barrier, (MPI_Comm communicator), (communicator), message(no_bytes, no_peer, communicator),
                             false)
ADAPTYST_MPI_CALL(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator),
                  (buffer, count, type, root, communicator),
                  message(broadcast_bytes(count, type, root, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Gather,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, int root, MPI_Comm communicator),
                  (sent, send_count, send_type, received, receive_count, receive_type, root, communicator),
                  message(bytes_to(root, sent, send_count, send_type), no_peer, communicator))
ADAPTYST_MPI_CALL(Gatherv,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, const int* receive_counts,
                   const int* offsets, MPI_Datatype receive_type, int root, MPI_Comm communicator),
                  (sent, send_count, send_type, received, receive_counts, offsets, receive_type, root, communicator),
                  message(bytes_to(root, sent, send_count, send_type), no_peer, communicator))
ADAPTYST_MPI_CALL(Scatter,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, int root, MPI_Comm communicator),
                  (sent, send_count, send_type, received, receive_count, receive_type, root, communicator),
                  message(scattered_bytes(send_count, send_type, root, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Scatterv,
                  (const void* sent, const int* send_counts, const int* offsets, MPI_Datatype send_type, void* received,
                   int receive_count, MPI_Datatype receive_type, int root, MPI_Comm communicator),
                  (sent, send_counts, offsets, send_type, received, receive_count, receive_type, root, communicator),
                  message(scattered_bytes(send_counts, send_type, root, communicator), no_peer, communicator))
ADAPTYST_MPI_COLLECTIVE_CALL(Allgather,
                             (const void* sent, int send_count, MPI_Datatype send_type, void* received,
                              int receive_count, MPI_Datatype receive_type, MPI_Comm communicator),
                             (sent, send_count, send_type, received, receive_count, receive_type, communicator),
                             message(own_bytes(sent, send_count, send_type), no_peer, communicator), receive_count == 0)
ADAPTYST_MPI_COLLECTIVE_CALL(
    Allgatherv,
    (const void* sent, int send_count, MPI_Datatype send_type, void* received, const int* receive_counts,
     const int* offsets, MPI_Datatype receive_type, MPI_Comm communicator),
    (sent, send_count, send_type, received, receive_counts, offsets, receive_type, communicator),
    message(own_bytes(sent, send_count, send_type), no_peer, communicator), has_zero(receive_counts, communicator))
ADAPTYST_MPI_COLLECTIVE_CALL(Alltoall,
                             (const void* sent, int send_count, MPI_Datatype send_type, void* received,
                              int receive_count, MPI_Datatype receive_type, MPI_Comm communicator),
                             (sent, send_count, send_type, received, receive_count, receive_type, communicator),
                             message(all_bytes(sent, send_count, send_type, communicator), no_peer, communicator),
                             receive_count == 0)
ADAPTYST_MPI_COLLECTIVE_CALL(
    Alltoallv,
    (const void* sent, const int* send_counts, const int* send_offsets, MPI_Datatype send_type, void* received,
     const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm communicator),
    (sent, send_counts, send_offsets, send_type, received, receive_counts, receive_offsets, receive_type, communicator),
    message(all_bytes(sent, send_counts, send_type, communicator), no_peer, communicator),
    (sent != MPI_IN_PLACE && has_zero(send_counts, communicator)) || has_zero(receive_counts, communicator))
ADAPTYST_MPI_COLLECTIVE_CALL(Alltoallw,
                             (const void* sent, const int* send_counts, const int* send_offsets,
                              const MPI_Datatype* send_types, void* received, const int* receive_counts,
                              const int* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm communicator),
                             (sent, send_counts, send_offsets, send_types, received, receive_counts, receive_offsets,
                              receive_types, communicator),
                             message(all_bytes(sent, send_counts, send_types, communicator), no_peer, communicator),
                             (sent != MPI_IN_PLACE && has_zero(send_counts, communicator)) ||
                                 has_zero(receive_counts, communicator))
ADAPTYST_MPI_CALL(Reduce,
                  (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation, int root,
                   MPI_Comm communicator),
                  (sent, received, count, type, operation, root, communicator),
                  message(reduced_bytes_to(root, count, type), no_peer, communicator))
ADAPTYST_MPI_COLLECTIVE_CALL(Allreduce,
                             (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                              MPI_Comm communicator),
                             (sent, received, count, type, operation, communicator),
                             message(bytes(count, type), no_peer, communicator), count == 0)
ADAPTYST_MPI_COLLECTIVE_CALL(Reduce_scatter,
                             (const void* sent, void* received, const int* receive_counts, MPI_Datatype type,
                              MPI_Op operation, MPI_Comm communicator),
                             (sent, received, receive_counts, type, operation, communicator),
                             message(reduced_bytes(receive_counts, type, communicator), no_peer, communicator),
                             has_zero(receive_counts, communicator))
ADAPTYST_MPI_COLLECTIVE_CALL(Reduce_scatter_block,
                             (const void* sent, void* received, int receive_count, MPI_Datatype type, MPI_Op operation,
                              MPI_Comm communicator),
                             (sent, received, receive_count, type, operation, communicator),
                             message(reduced_bytes(receive_count, type, communicator), no_peer, communicator),
                             receive_count == 0)
ADAPTYST_MPI_CALL(
    Scan, (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator),
    (sent, received, count, type, operation, communicator), message(bytes(count, type), no_peer, communicator))
ADAPTYST_MPI_CALL(
    Exscan, (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator),
    (sent, received, count, type, operation, communicator), message(bytes(count, type), no_peer, communicator))
ADAPTYST_MPI_CALL(Neighbor_allgather,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm communicator),
                  (sent, send_count, send_type, received, receive_count, receive_type, communicator),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Neighbor_allgatherv,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, const int* receive_counts,
                   const int* offsets, MPI_Datatype receive_type, MPI_Comm communicator),
                  (sent, send_count, send_type, received, receive_counts, offsets, receive_type, communicator),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Neighbor_alltoall,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm communicator),
                  (sent, send_count, send_type, received, receive_count, receive_type, communicator),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Neighbor_alltoallv,
                  (const void* sent, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                   void* received, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                   MPI_Comm communicator),
                  (sent, send_counts, send_offsets, send_type, received, receive_counts, receive_offsets, receive_type,
                   communicator),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Neighbor_alltoallw,
                  (const void* sent, const int* send_counts, const MPI_Aint* send_offsets,
                   const MPI_Datatype* send_types, void* received, const int* receive_counts,
                   const MPI_Aint* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm communicator),
                  (sent, send_counts, send_offsets, send_types, received, receive_counts, receive_offsets,
                   receive_types, communicator),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Ibarrier, (MPI_Comm communicator, MPI_Request* request), (communicator, request),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Ibcast,
                  (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator, MPI_Request* request),
                  (buffer, count, type, root, communicator, request),
                  message(broadcast_bytes(count, type, root, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Igather,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, int root, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_count, receive_type, root, communicator, request),
                  message(bytes_to(root, sent, send_count, send_type), no_peer, communicator))
ADAPTYST_MPI_CALL(Igatherv,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, const int* receive_counts,
                   const int* offsets, MPI_Datatype receive_type, int root, MPI_Comm communicator,
                   MPI_Request* request),
                  (sent, send_count, send_type, received, receive_counts, offsets, receive_type, root, communicator,
                   request),
                  message(bytes_to(root, sent, send_count, send_type), no_peer, communicator))
ADAPTYST_MPI_CALL(Iscatter,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, int root, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_count, receive_type, root, communicator, request),
                  message(scattered_bytes(send_count, send_type, root, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Iscatterv,
                  (const void* sent, const int* send_counts, const int* offsets, MPI_Datatype send_type, void* received,
                   int receive_count, MPI_Datatype receive_type, int root, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_counts, offsets, send_type, received, receive_count, receive_type, root, communicator,
                   request),
                  message(scattered_bytes(send_counts, send_type, root, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Iallgather,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_count, receive_type, communicator, request),
                  message(own_bytes(sent, send_count, send_type), no_peer, communicator))
ADAPTYST_MPI_CALL(Iallgatherv,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, const int* receive_counts,
                   const int* offsets, MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_counts, offsets, receive_type, communicator, request),
                  message(own_bytes(sent, send_count, send_type), no_peer, communicator))
ADAPTYST_MPI_CALL(Ialltoall,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_count, receive_type, communicator, request),
                  message(all_bytes(sent, send_count, send_type, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Ialltoallv,
                  (const void* sent, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                   void* received, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, send_counts, send_offsets, send_type, received, receive_counts, receive_offsets, receive_type,
                   communicator, request),
                  message(all_bytes(sent, send_counts, send_type, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Ialltoallw,
                  (const void* sent, const int* send_counts, const int* send_offsets, const MPI_Datatype* send_types,
                   void* received, const int* receive_counts, const int* receive_offsets,
                   const MPI_Datatype* receive_types, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_counts, send_offsets, send_types, received, receive_counts, receive_offsets,
                   receive_types, communicator, request),
                  message(all_bytes(sent, send_counts, send_types, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Ireduce,
                  (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation, int root,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, received, count, type, operation, root, communicator, request),
                  message(reduced_bytes_to(root, count, type), no_peer, communicator))
ADAPTYST_MPI_CALL(Iallreduce,
                  (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, received, count, type, operation, communicator, request),
                  message(bytes(count, type), no_peer, communicator))
ADAPTYST_MPI_CALL(Ireduce_scatter,
                  (const void* sent, void* received, const int* receive_counts, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, received, receive_counts, type, operation, communicator, request),
                  message(reduced_bytes(receive_counts, type, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Ireduce_scatter_block,
                  (const void* sent, void* received, int receive_count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, received, receive_count, type, operation, communicator, request),
                  message(reduced_bytes(receive_count, type, communicator), no_peer, communicator))
ADAPTYST_MPI_CALL(Iscan,
                  (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, received, count, type, operation, communicator, request),
                  message(bytes(count, type), no_peer, communicator))
ADAPTYST_MPI_CALL(Iexscan,
                  (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, received, count, type, operation, communicator, request),
                  message(bytes(count, type), no_peer, communicator))
ADAPTYST_MPI_CALL(Ineighbor_allgather,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_count, receive_type, communicator, request),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Ineighbor_allgatherv,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, const int* receive_counts,
                   const int* offsets, MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_counts, offsets, receive_type, communicator, request),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Ineighbor_alltoall,
                  (const void* sent, int send_count, MPI_Datatype send_type, void* received, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request),
                  (sent, send_count, send_type, received, receive_count, receive_type, communicator, request),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Ineighbor_alltoallv,
                  (const void* sent, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                   void* received, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                   MPI_Comm communicator, MPI_Request* request),
                  (sent, send_counts, send_offsets, send_type, received, receive_counts, receive_offsets, receive_type,
                   communicator, request),
                  message(no_bytes, no_peer, communicator))
ADAPTYST_MPI_CALL(Ineighbor_alltoallw,
                  (const void* sent, const int* send_counts, const MPI_Aint* send_offsets,
                   const MPI_Datatype* send_types, void* received, const int* receive_counts,
                   const MPI_Aint* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm communicator,
                   MPI_Request* request),
                  (sent, send_counts, send_offsets, send_types, received, receive_counts, receive_offsets,
                   receive_types, communicator, request),
                  message(no_bytes, no_peer, communicator))

// ---- communicators --------------------------------------------------------------------------------------------------

ADAPTYST_MPI_CALL(Comm_dup, (MPI_Comm communicator, MPI_Comm* made), (communicator, made), no_message())
ADAPTYST_MPI_CALL(Comm_dup_with_info, (MPI_Comm communicator, MPI_Info info, MPI_Comm* made),
                  (communicator, info, made), no_message())
ADAPTYST_MPI_CALL(Comm_idup, (MPI_Comm communicator, MPI_Comm* made, MPI_Request* request),
                  (communicator, made, request), no_message())
ADAPTYST_MPI_CALL(Comm_create, (MPI_Comm communicator, MPI_Group group, MPI_Comm* made), (communicator, group, made),
                  no_message())
ADAPTYST_MPI_CALL(Comm_create_group, (MPI_Comm communicator, MPI_Group group, int tag, MPI_Comm* made),
                  (communicator, group, tag, made), no_message())
ADAPTYST_MPI_CALL(Comm_split, (MPI_Comm communicator, int color, int key, MPI_Comm* made),
                  (communicator, color, key, made), no_message())
ADAPTYST_MPI_CALL(Comm_split_type, (MPI_Comm communicator, int split_type, int key, MPI_Info info, MPI_Comm* made),
                  (communicator, split_type, key, info, made), no_message())
ADAPTYST_MPI_CALL(Comm_free, (MPI_Comm * communicator), (communicator), no_message())
ADAPTYST_MPI_CALL(Cart_create,
                  (MPI_Comm communicator, int ndims, const int* dims, const int* periods, int reorder, MPI_Comm* made),
                  (communicator, ndims, dims, periods, reorder, made), no_message())
ADAPTYST_MPI_CALL(Cart_sub, (MPI_Comm communicator, const int* remain_dims, MPI_Comm* made),
                  (communicator, remain_dims, made), no_message())
ADAPTYST_MPI_CALL(Graph_create,
                  (MPI_Comm communicator, int nnodes, const int* index, const int* edges, int reorder, MPI_Comm* made),
                  (communicator, nnodes, index, edges, reorder, made), no_message())
ADAPTYST_MPI_CALL(Dist_graph_create,
                  (MPI_Comm communicator, int n, const int* sources, const int* degrees, const int* destinations,
                   const int* weights, MPI_Info info, int reorder, MPI_Comm* made),
                  (communicator, n, sources, degrees, destinations, weights, info, reorder, made), no_message())
ADAPTYST_MPI_CALL(Dist_graph_create_adjacent,
                  (MPI_Comm communicator, int indegree, const int* sources, const int* sourceweights, int outdegree,
                   const int* destinations, const int* destweights, MPI_Info info, int reorder, MPI_Comm* made),
                  (communicator, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
                   made),
                  no_message())
ADAPTYST_MPI_CALL(Intercomm_create,
                  (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                   MPI_Comm* newintercomm),
                  (local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm), no_message())
ADAPTYST_MPI_CALL(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm* newintracomm),
                  (intercomm, high, newintracomm), no_message())
ADAPTYST_MPI_CALL(Comm_spawn,
                  (const char* command, char** arguments, int maxprocs, MPI_Info info, int root, MPI_Comm communicator,
                   MPI_Comm* intercomm, int* array_of_errcodes),
                  (command, arguments, maxprocs, info, root, communicator, intercomm, array_of_errcodes), no_message())
ADAPTYST_MPI_CALL(Comm_spawn_multiple,
                  (int count, char** array_of_commands, char*** array_of_argv, const int* array_of_maxprocs,
                   const MPI_Info* array_of_info, int root, MPI_Comm communicator, MPI_Comm* intercomm,
                   int* array_of_errcodes),
                  (count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, communicator,
                   intercomm, array_of_errcodes),
                  no_message())
ADAPTYST_MPI_CALL(Comm_accept, (const char* port_name, MPI_Info info, int root, MPI_Comm communicator, MPI_Comm* made),
                  (port_name, info, root, communicator, made), no_message())
ADAPTYST_MPI_CALL(Comm_connect, (const char* port_name, MPI_Info info, int root, MPI_Comm communicator, MPI_Comm* made),
                  (port_name, info, root, communicator, made), no_message())
ADAPTYST_MPI_CALL(Comm_disconnect, (MPI_Comm * communicator), (communicator), no_message())

// ---- windows: memory that other ranks read and write ----------------------------------------------------------------

ADAPTYST_MPI_CALL(Win_create,
                  (void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm communicator, MPI_Win* window),
                  (base, size, disp_unit, info, communicator, window), no_message())
ADAPTYST_MPI_CALL(Win_allocate,
                  (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm communicator, void* baseptr, MPI_Win* window),
                  (size, disp_unit, info, communicator, baseptr, window), no_message())
ADAPTYST_MPI_CALL(Win_allocate_shared,
                  (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm communicator, void* baseptr, MPI_Win* window),
                  (size, disp_unit, info, communicator, baseptr, window), no_message())
ADAPTYST_MPI_CALL(Win_create_dynamic, (MPI_Info info, MPI_Comm communicator, MPI_Win* window),
                  (info, communicator, window), no_message())
ADAPTYST_MPI_CALL(Win_free, (MPI_Win * window), (window), no_message())
ADAPTYST_MPI_CALL(Win_fence, (int assert, MPI_Win window), (assert, window), no_message())
ADAPTYST_MPI_CALL(Win_start, (MPI_Group group, int assert, MPI_Win window), (group, assert, window), no_message())
ADAPTYST_MPI_CALL(Win_complete, (MPI_Win window), (window), no_message())
ADAPTYST_MPI_CALL(Win_post, (MPI_Group group, int assert, MPI_Win window), (group, assert, window), no_message())
ADAPTYST_MPI_CALL(Win_wait, (MPI_Win window), (window), no_message())
ADAPTYST_MPI_CALL(Win_test, (MPI_Win window, int* is_done), (window, is_done), no_message())
ADAPTYST_MPI_CALL(Win_lock, (int lock_type, int rank, int assert, MPI_Win window), (lock_type, rank, assert, window),
                  no_message())
ADAPTYST_MPI_CALL(Win_unlock, (int rank, MPI_Win window), (rank, window), no_message())
ADAPTYST_MPI_CALL(Win_lock_all, (int assert, MPI_Win window), (assert, window), no_message())
ADAPTYST_MPI_CALL(Win_unlock_all, (MPI_Win window), (window), no_message())
ADAPTYST_MPI_CALL(Win_flush, (int rank, MPI_Win window), (rank, window), no_message())
ADAPTYST_MPI_CALL(Win_flush_all, (MPI_Win window), (window), no_message())
ADAPTYST_MPI_CALL(Win_flush_local, (int rank, MPI_Win window), (rank, window), no_message())
ADAPTYST_MPI_CALL(Win_flush_local_all, (MPI_Win window), (window), no_message())
ADAPTYST_MPI_CALL(Win_sync, (MPI_Win window), (window), no_message())
ADAPTYST_MPI_CALL(Put,
                  (const void* origin, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Win window),
                  (origin, count, type, target, offset, target_count, target_type, window), message(bytes(count, type)))
ADAPTYST_MPI_CALL(Get,
                  (void* origin, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Win window),
                  (origin, count, type, target, offset, target_count, target_type, window), no_message())
ADAPTYST_MPI_CALL(Accumulate,
                  (const void* origin, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
                  (origin, count, type, target, offset, target_count, target_type, operation, window),
                  message(bytes(count, type)))
ADAPTYST_MPI_CALL(Get_accumulate,
                  (const void* origin, int count, MPI_Datatype type, void* result_addr, int result_count,
                   MPI_Datatype result_datatype, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
                  (origin, count, type, result_addr, result_count, result_datatype, target, offset, target_count,
                   target_type, operation, window),
                  message(bytes(count, type)))
ADAPTYST_MPI_CALL(Fetch_and_op,
                  (const void* origin, void* result_addr, MPI_Datatype type, int target, MPI_Aint offset,
                   MPI_Op operation, MPI_Win window),
                  (origin, result_addr, type, target, offset, operation, window), message(bytes(1, type)))
ADAPTYST_MPI_CALL(Compare_and_swap,
                  (const void* origin, const void* compare_addr, void* result_addr, MPI_Datatype type, int target,
                   MPI_Aint offset, MPI_Win window),
                  (origin, compare_addr, result_addr, type, target, offset, window), no_message())
ADAPTYST_MPI_CALL(Rput,
                  (const void* origin, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Win window, MPI_Request* request),
                  (origin, count, type, target, offset, target_count, target_type, window, request),
                  message(bytes(count, type)))
ADAPTYST_MPI_CALL(Rget,
                  (void* origin, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Win window, MPI_Request* request),
                  (origin, count, type, target, offset, target_count, target_type, window, request), no_message())
ADAPTYST_MPI_CALL(Raccumulate,
                  (const void* origin, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Op operation, MPI_Win window, MPI_Request* request),
                  (origin, count, type, target, offset, target_count, target_type, operation, window, request),
                  message(bytes(count, type)))
ADAPTYST_MPI_CALL(Rget_accumulate,
                  (const void* origin, int count, MPI_Datatype type, void* result_addr, int result_count,
                   MPI_Datatype result_datatype, int target, MPI_Aint offset, int target_count,
                   MPI_Datatype target_type, MPI_Op operation, MPI_Win window, MPI_Request* request),
                  (origin, count, type, result_addr, result_count, result_datatype, target, offset, target_count,
                   target_type, operation, window, request),
                  message(bytes(count, type)))

// ---- files ----------------------------------------------------------------------------------------------------------

ADAPTYST_MPI_CALL(File_open, (MPI_Comm communicator, const char* filename, int amode, MPI_Info info, MPI_File* file),
                  (communicator, filename, amode, info, file), no_message())
ADAPTYST_MPI_CALL(File_close, (MPI_File * file), (file), no_message())
ADAPTYST_MPI_CALL(File_sync, (MPI_File file), (file), no_message())
ADAPTYST_MPI_CALL(File_set_view,
                  (MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
                   MPI_Info info),
                  (file, disp, etype, filetype, datarep, info), no_message())
ADAPTYST_MPI_CALL(File_set_size, (MPI_File file, MPI_Offset size), (file, size), no_message())
ADAPTYST_MPI_CALL(File_preallocate, (MPI_File file, MPI_Offset size), (file, size), no_message())
ADAPTYST_MPI_CALL(File_read, (MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), no_message())
ADAPTYST_MPI_CALL(File_read_all, (MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), no_message())
ADAPTYST_MPI_CALL(File_read_at,
                  (MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, offset, buffer, count, type, status), no_message())
ADAPTYST_MPI_CALL(File_read_at_all,
                  (MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, offset, buffer, count, type, status), no_message())
ADAPTYST_MPI_CALL(File_read_shared, (MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), no_message())
ADAPTYST_MPI_CALL(File_read_ordered, (MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), no_message())
ADAPTYST_MPI_CALL(File_write, (MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_all, (MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_at,
                  (MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type,
                   MPI_Status* status),
                  (file, offset, buffer, count, type, status), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_at_all,
                  (MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type,
                   MPI_Status* status),
                  (file, offset, buffer, count, type, status), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_shared,
                  (MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_ordered,
                  (MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Status* status),
                  (file, buffer, count, type, status), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_iread, (MPI_File file, void* buffer, int count, MPI_Datatype type, MPIO_Request* request),
                  (file, buffer, count, type, request), no_message())
ADAPTYST_MPI_CALL(File_iread_all, (MPI_File file, void* buffer, int count, MPI_Datatype type, MPI_Request* request),
                  (file, buffer, count, type, request), no_message())
ADAPTYST_MPI_CALL(File_iread_at,
                  (MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type, MPIO_Request* request),
                  (file, offset, buffer, count, type, request), no_message())
ADAPTYST_MPI_CALL(File_iread_at_all,
                  (MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type, MPI_Request* request),
                  (file, offset, buffer, count, type, request), no_message())
ADAPTYST_MPI_CALL(File_iread_shared, (MPI_File file, void* buffer, int count, MPI_Datatype type, MPIO_Request* request),
                  (file, buffer, count, type, request), no_message())
ADAPTYST_MPI_CALL(File_iwrite, (MPI_File file, const void* buffer, int count, MPI_Datatype type, MPIO_Request* request),
                  (file, buffer, count, type, request), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_iwrite_all,
                  (MPI_File file, const void* buffer, int count, MPI_Datatype type, MPI_Request* request),
                  (file, buffer, count, type, request), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_iwrite_at,
                  (MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type,
                   MPIO_Request* request),
                  (file, offset, buffer, count, type, request), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_iwrite_at_all,
                  (MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type,
                   MPI_Request* request),
                  (file, offset, buffer, count, type, request), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_iwrite_shared,
                  (MPI_File file, const void* buffer, int count, MPI_Datatype type, MPIO_Request* request),
                  (file, buffer, count, type, request), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_read_all_begin, (MPI_File file, void* buffer, int count, MPI_Datatype type),
                  (file, buffer, count, type), no_message())
ADAPTYST_MPI_CALL(File_read_all_end, (MPI_File file, void* buffer, MPI_Status* status), (file, buffer, status),
                  no_message())
ADAPTYST_MPI_CALL(File_read_at_all_begin,
                  (MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type),
                  (file, offset, buffer, count, type), no_message())
ADAPTYST_MPI_CALL(File_read_at_all_end, (MPI_File file, void* buffer, MPI_Status* status), (file, buffer, status),
                  no_message())
ADAPTYST_MPI_CALL(File_read_ordered_begin, (MPI_File file, void* buffer, int count, MPI_Datatype type),
                  (file, buffer, count, type), no_message())
ADAPTYST_MPI_CALL(File_read_ordered_end, (MPI_File file, void* buffer, MPI_Status* status), (file, buffer, status),
                  no_message())
ADAPTYST_MPI_CALL(File_write_all_begin, (MPI_File file, const void* buffer, int count, MPI_Datatype type),
                  (file, buffer, count, type), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_all_end, (MPI_File file, const void* buffer, MPI_Status* status), (file, buffer, status),
                  no_message())
ADAPTYST_MPI_CALL(File_write_at_all_begin,
                  (MPI_File file, MPI_Offset offset, const void* buffer, int count, MPI_Datatype type),
                  (file, offset, buffer, count, type), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_at_all_end, (MPI_File file, const void* buffer, MPI_Status* status),
                  (file, buffer, status), no_message())
ADAPTYST_MPI_CALL(File_write_ordered_begin, (MPI_File file, const void* buffer, int count, MPI_Datatype type),
                  (file, buffer, count, type), message(bytes(count, type)))
ADAPTYST_MPI_CALL(File_write_ordered_end, (MPI_File file, const void* buffer, MPI_Status* status),
                  (file, buffer, status), no_message())
