#!/bin/bash
#SBATCH --job-name=solver
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --output=solver-%j.log

# The command goes behind srun: each rank is observed where it runs.
srun --mpi="${MPI:-pmix}" adaptyst run --with mpi,opencl --output "run-$SLURM_JOB_ID.json" -- "$SOLVER"
