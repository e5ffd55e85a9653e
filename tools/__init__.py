"""What makes README and site from the code and the results."""
