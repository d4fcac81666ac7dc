import { useQueryClient } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";
import { Link } from "wouter";
import { ApiError, api } from "../../api/client";
import { type Density, density, setDensity, subscribeDensity } from "../../base/density";
import { chooserQuery } from "../../base/lastWorkspace";
import { useSession } from "../../base/session";
import { sessionQuery, useSignOut } from "../../sync/session";
import { setSingleKeys, singleKeys } from "../../base/shortcuts";
import { applyTheme, type Theme, theme } from "../../base/theme";
import { Button } from "../../ui/Button";
import { Radios, Switch, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { NewPassword } from "../../ui/NewPassword";
import { Card, Facts, Page } from "../../ui/Page";
import { toast, Toasts } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { LanguageChoice } from "./LanguageChoice";
import { Sessions } from "./Sessions";
import css from "./Settings.module.css";
import { within } from "../../base/queries";

const words = catalogue("settings.me", {
	title: "Your account",
	back: "Workspaces",
	you: "You",
	name: "Name",
	rename: "Save name",
	renamed: "Saved. All your workspaces show the new name.",
	same: "The name has not changed.",
	email: "Email",
	password: "Password",
	current: "Current password",
	fresh: "New password",
	change: "Change password",
	changed: "Password changed. Other sessions have ended.",
	look: "Appearance",
	theme: "Theme",
	system: "System",
	light: "Light",
	dark: "Dark",
	rows: "Table rows",
	comfortable: "Comfortable",
	compact: "Compact",
	keys: "Single-key shortcuts",
	keysHelp: "Such as / to search and ? for help.",
	out: "Sign out",
});

/** Me is the page of the signed-in person's own settings. */
export default function Me() {
	const signOut = useSignOut();
	const [selectedTheme, setSelected] = useState<Theme>(theme());
	const [keys, setKeys] = useState(singleKeys());
	const rows = useSyncExternalStore(subscribeDensity, density);
	return (
		<main>
			<Page
				title={words.title}
				breadcrumbs={[{ name: words.back, to: `/${chooserQuery}` }]}
				actions={<Button onClick={() => void signOut()}>{words.out}</Button>}
			>
				<You />
				<Password />
				<Sessions />
				<Card title={words.look}>
					<LanguageChoice />
					<Radios
						label={words.theme}
						value={selectedTheme}
						onChange={(value) => {
							setSelected(value as Theme);
							applyTheme(value as Theme);
						}}
						choices={[
							{ value: "system", label: words.system },
							{ value: "light", label: words.light },
							{ value: "dark", label: words.dark },
						]}
					/>
					<Radios
						label={words.rows}
						value={rows}
						onChange={(value) => setDensity(value as Density)}
						choices={[
							{ value: "comfortable", label: words.comfortable },
							{ value: "compact", label: words.compact },
						]}
					/>
					<Switch
						label={words.keys}
						help={words.keysHelp}
						checked={keys}
						onChange={(checked) => {
							setKeys(checked);
							setSingleKeys(checked);
						}}
					/>
				</Card>
				<p>
					<Link href={`/${chooserQuery}`}>{words.back}</Link>
				</p>
			</Page>
			<Toasts />
		</main>
	);
}

function You() {
	const { user } = useSession();
	const client = useQueryClient();
	const form = useForm({ name: user.name });
	const save = () =>
		form.submit(async () => {
			client.setQueryData(
				sessionQuery().queryKey,
				await api("PUT /api/auth/profile", { body: { name: form.values.name.trim() } }),
			);
			toast(words.renamed);
		});
	return (
		<Card title={words.you}>
			<form
				className={css.form}
				noValidate
				onSubmit={(event) => {
					event.preventDefault();
					void save();
				}}
			>
				<FormProblems problems={form.problems} />
				<TextField
					label={words.name}
					path="name"
					autoComplete="name"
					value={form.values.name}
					onChange={(name) => form.set({ name })}
					error={form.problems.byPath.name}
				/>
				<Facts rows={[[words.email, user.email]]} />
				<div>
					<Button
						type="submit"
						busy={form.busy}
						disabledReason={form.values.name.trim() === user.name ? words.same : undefined}
					>
						{words.rename}
					</Button>
				</div>
			</form>
		</Card>
	);
}

function Password() {
	const { user } = useSession();
	const client = useQueryClient();
	const form = useForm({ current_password: "", new_password: "" });
	const { values, problems } = form;
	const submit = () =>
		form.submit(async () => {
			try {
				// A wrong password is not the end of the session.
				await api("POST /api/auth/password/change", { body: values, silent: true });
			} catch (error) {
				throw error instanceof ApiError && error.code === "INVALID_CREDENTIALS"
					? new ApiError(error.status, "WRONG_CURRENT_PASSWORD", error.message, { path: "current_password" })
					: error;
			}
			toast(words.changed);
			form.reset();
			void client.invalidateQueries(within("sessions"));
		});
	return (
		<Card title={words.password}>
			<form
				className={css.form}
				noValidate
				onSubmit={(event) => {
					event.preventDefault();
					void submit();
				}}
			>
				<FormProblems problems={problems} />
				<input type="email" autoComplete="username" value={user.email} readOnly hidden />
				<TextField
					label={words.current}
					type="password"
					path="current_password"
					autoComplete="current-password"
					value={values.current_password}
					onChange={(current_password) => form.set({ current_password })}
					error={problems.byPath.current_password}
				/>
				<NewPassword
					label={words.fresh}
					path="new_password"
					value={values.new_password}
					onChange={(new_password) => form.set({ new_password })}
					error={problems.byPath.new_password}
				/>
				<div>
					<Button type="submit" busy={form.busy}>
						{words.change}
					</Button>
				</div>
			</form>
		</Card>
	);
}
