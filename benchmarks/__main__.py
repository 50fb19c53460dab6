"""All Python benchmarks; ``make bench`` runs the Rust one before."""

from benchmarks import agent, machine, month, now


def main() -> None:
    """Print every table under the machine it was measured on."""
    print(machine.line())
    for part in (now, month, agent):
        print()
        part.main()


if __name__ == "__main__":
    main()
