import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { NewPassword } from "../../ui/NewPassword";
import { catalogue } from "../../base/words/catalogue";
import { WithLink } from "./link";
import { useWait, Wait } from "./Wait";
import { Welcome } from "./Welcome";
import { within } from "../../base/queries";
import { outside } from "../../base/paths";

const words = catalogue("signin.reset", {
	title: "Choose a password",
	about: "This ends all sessions of this account.",
	login: "Account",
	password: "New password",
	submit: "Save password",
	done: "Your password is saved",
	doneText: "All older sessions have ended. Sign in with the new password.",
	enter: "Sign in",
});

/** Reset is the page of a link to choose a password. */
export default function Reset() {
	return (
		<WithLink kind="password_reset" title={words.title}>
			{(link, token) => <Form email={link.email ?? ""} token={token} />}
		</WithLink>
	);
}

function Form({ email, token }: { email: string; token: string }) {
	const [done, setDone] = useState(false);
	const client = useQueryClient();
	const wait = useWait();
	const form = useForm({ password: "" });
	const send = () =>
		form.submit(async () => {
			try {
				await api("POST /api/auth/password/reset", { body: { token, password: form.values.password }, silent: true });
				client.removeQueries(within("session"));
				setDone(true);
			} catch (error) {
				wait.catch(error);
				throw error;
			}
		});
	if (done) {
		return (
			<Welcome title={words.done}>
				<p role="status">{words.doneText}</p>
				<a href={outside.login}>{words.enter}</a>
			</Welcome>
		);
	}
	return (
		<Welcome title={words.title} onSubmit={() => void send()}>
			<p>{words.about}</p>
			<Wait wait={wait} />
			{!wait.seconds && <FormProblems problems={form.problems} />}
			<TextField
				label={words.login}
				type="email"
				name="email"
				autoComplete="username"
				value={email}
				onChange={() => undefined}
				readOnly
			/>
			<NewPassword
				label={words.password}
				path="password"
				value={form.values.password}
				onChange={(password) => form.set({ password })}
				error={form.problems.byPath.password}
				autoFocus
			/>
			<Button type="submit" variant="primary" busy={form.busy}>
				{words.submit}
			</Button>
		</Welcome>
	);
}
