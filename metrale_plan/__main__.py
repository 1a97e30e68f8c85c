"""`python -m metrale_plan`."""

from metrale_plan._entry import main

if __name__ == "__main__":
    main()
