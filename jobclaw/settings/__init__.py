"""What a deployment decides: the configuration, the roles, the keyword tables."""

from jobclaw.settings.load import check_channels, load_settings
from jobclaw.settings.roles import RoleFile, RoleTable, load_roles
from jobclaw.settings.schema import Settings

__all__ = [
    "RoleFile",
    "RoleTable",
    "Settings",
    "check_channels",
    "load_roles",
    "load_settings",
]
