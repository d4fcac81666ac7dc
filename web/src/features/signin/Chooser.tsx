import { useState } from "react";
import { Link } from "wouter";
import { useSession } from "../../base/session";
import { useSignOut } from "../../sync/session";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { roleName } from "../../base/words/roles";
import css from "./Chooser.module.css";
import { Welcome } from "./Welcome";

const words = catalogue("signin.chooser", {
	title: "Choose a workspace",
	none: "You are not a member of any workspace. Ask somebody for an invitation.",
	find: "Find a workspace",
	out: "Sign out",
});

/** Chooser lists the workspaces of the signed-in person. */
export default function Chooser() {
	const { memberships } = useSession();
	const signOut = useSignOut();
	const [search, setSearch] = useState("");
	return (
		<Welcome title={words.title}>
			{memberships.length === 0 && <p>{words.none}</p>}
			{memberships.length > 7 && (
				<TextField label={words.find} type="search" value={search} onChange={setSearch} autoFocus />
			)}
			<ul className={css.list}>
				{memberships
					.filter((membership) => membership.tenant_name.toLowerCase().includes(search.trim().toLowerCase()))
					.map((membership) => (
						<li key={membership.tenant_id}>
							<Link href={`/${membership.tenant_slug}`}>
								{membership.tenant_name}
								<small>{roleName(membership.role)}</small>
							</Link>
						</li>
					))}
			</ul>
			<Button onClick={() => void signOut()}>{words.out}</Button>
		</Welcome>
	);
}
