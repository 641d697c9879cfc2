"""The parts of the campaign `hostile.py`: values, servers, arguments, connections and repositories."""
