import { catalogue } from "./catalogue";

/** The names of roles: of one person, and of all who have it. */
export const roleNames = catalogue("shell.roles", {
	viewer: { one: "Viewer", many: "viewers" },
	editor: { one: "Editor", many: "editors" },
	admin: { one: "Admin", many: "admins" },
	owner: { one: "Owner", many: "owners" },
});

/** roleName returns the name of a role. */
export const roleName = (role: string) => (roleNames as { [role: string]: { one: string } })[role]?.one ?? role;
