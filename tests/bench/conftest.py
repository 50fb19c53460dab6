import pytest

from tests.services.conftest import mongodb, postgresql, s3  # noqa: F401 - fixtures


@pytest.fixture
def place(tmp_path):
    """An empty directory to measure."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Tests that are started by a batch system are no part of its job."""
    for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "MPI_LOCALNRANKS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Places have long names here: tables need not cut them."""
    monkeypatch.setenv("COLUMNS", "200")
