import { ChevronsUpDown } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { Copy } from "../ui/Copy";
import { Dialog } from "../ui/Dialog";
import { Menu } from "../ui/Menu";
import { catalogue } from "../base/words/catalogue";
import { roleName } from "../base/words/roles";
import css from "./Switcher.module.css";
import { withoutRecord } from "./routes";
import { chooser } from "../base/lastWorkspace";
import { useOptions, useSession, useWorkspace } from "../base/session";
import { useShortcuts } from "../base/shortcuts";
import { outside, toWorkspace } from "../base/paths";

const words = catalogue("shell.switcher", {
	switch: "Workspace {name}. Switch workspace",
	more: "All workspaces",
	command: "the command",
	add: "New workspace",
	operator: "The operator of this installation creates workspaces with this command:",
});

const command = "packetboat tenant create --slug acme --name Acme";
const maxWorkspaces = 9; // workspaces of the menu

/** Switcher names the workspace, and switches to another. The kind of page stays; records do not. */
export function Switcher({ collapsed }: { collapsed: boolean }) {
	const { memberships } = useSession();
	const workspace = useWorkspace();
	const [path] = useLocation();
	const [creating, setCreating] = useState(false);
	const name = workspace?.tenant_name ?? "";
	const avatar = (name: string) => (
		<span className={css.mark} aria-hidden data-letter={name.slice(0, 1).toUpperCase()} />
	);
	const open = (slug: string) => location.assign(toWorkspace(slug) + withoutRecord(path));
	useShortcuts(
		Object.fromEntries(
			memberships.slice(0, maxWorkspaces).map((membership, i) => [`mod+${i + 1}`, () => open(membership.tenant_slug)]),
		),
	);
	return (
		<>
			<Menu
				start
				label={words.switch({ name })}
				className={css.button}
				actions={[
					...memberships.slice(0, maxWorkspaces).map((membership) => ({
						id: membership.tenant_slug,
						label: membership.tenant_name,
						help: roleName(membership.role),
						icon: avatar(membership.tenant_name),
						run: () => open(membership.tenant_slug),
					})),
					memberships.length > maxWorkspaces && { id: "-all", label: words.more, run: () => location.assign(chooser) },
					{ id: "-new", label: words.add, run: () => setCreating(true) },
				]}
			>
				{avatar(name)}
				{!collapsed && (
					<>
						<span className={css.name}>{name}</span>
						<ChevronsUpDown aria-hidden size={16} />
					</>
				)}
			</Menu>
			{creating && <NewWorkspace onClose={() => setCreating(false)} />}
		</>
	);
}

/** NewWorkspace leads to the sign-up form where everybody may sign up, and else shows the operator's command. */
function NewWorkspace({ onClose }: { onClose: () => void }) {
	const options = useOptions();
	if (options.data?.signup_enabled) {
		location.assign(outside.signUp);
		return null;
	}
	return (
		<Dialog title={words.add} onClose={onClose}>
			<p>{words.operator}</p>
			<p className={css.command}>
				<code>{command}</code> <Copy text={command} subject={words.command} />
			</p>
		</Dialog>
	);
}
