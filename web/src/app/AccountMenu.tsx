import { Menu } from "../ui/Menu";
import { catalogue } from "../base/words/catalogue";
import css from "./Shell.module.css";
import { useSession } from "../base/session";
import { useSignOut } from "../sync/session";
import { applyTheme, type Theme } from "../base/theme";
import { outside } from "../base/paths";

const words = catalogue("shell.accountMenu", {
	account: "Account of {name}",
	me: "Your account",
	light: "Light theme",
	dark: "Dark theme",
	system: "System theme",
	reference: "API reference",
	out: "Sign out",
});

/** AccountMenu has what concerns the signed-in person. */
export function AccountMenu() {
	const { user } = useSession();
	const signOut = useSignOut();
	const name = user.name || user.email;
	const themes: Theme[] = ["light", "dark", "system"];
	return (
		<Menu
			label={words.account({ name })}
			className={css.account}
			actions={[
				{ id: "me", label: words.me, run: () => location.assign(outside.me) },
				...themes.map((theme) => ({ id: theme, label: words[theme], run: () => applyTheme(theme) })),
				{
					id: "reference",
					label: words.reference,
					run: () => void window.open(outside.reference, "_blank", "noopener"),
				},
				{ id: "out", label: words.out, run: () => void signOut() },
			]}
		>
			<span className={css.initials} data-letter={name.slice(0, 1).toUpperCase()} />
		</Menu>
	);
}
