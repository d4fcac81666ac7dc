-- +goose Up

-- Package sender.

-- The tenants whose mail comes back to a host: ReturnPathTenants.
CREATE INDEX sending_domain_return_path ON sending_domain (return_path_host);
