import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { api } from "../../api/client";
import { useOptions } from "../../base/session";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { useWait, Wait } from "./Wait";
import { Welcome } from "./Welcome";
import { sessionQuery } from "../../sync/session";
import { outside } from "../../base/paths";

const words = catalogue("signin.signIn", {
	title: "Sign in",
	email: "Email",
	password: "Password",
	enter: "Sign in",
	setup: "Nobody has signed up yet. The program logs a sign-up link at each start.",
	signUp: "Create workspace",
	forgot: "Forgot your password?",
});

/** SignIn is the page to sign in with address and password. */
export default function SignIn() {
	const [email, setEmail] = useState("");
	const [password, setPassword] = useState("");
	const [error, setError] = useState("");
	const [busy, setBusy] = useState(false);
	const wait = useWait();
	const options = useOptions().data;
	const client = useQueryClient();
	const next = new URLSearchParams(useSearch()).get("next");
	const [, navigate] = useLocation();
	const submit = async () => {
		setBusy(true);
		setError("");
		try {
			const session = await api("POST /api/auth/login", { body: { email: email.trim(), password }, silent: true });
			client.setQueryData(sessionQuery().queryKey, session);
			navigate(next?.startsWith("/") && !next.startsWith("//") ? next : "/", { replace: true });
		} catch (error) {
			if (!wait.catch(error)) setError(explain(error));
			setBusy(false);
		}
	};
	return (
		<Welcome title={words.title} onSubmit={() => void submit()}>
			<TextField
				label={words.email}
				type="email"
				name="email"
				autoComplete="username"
				value={email}
				onChange={setEmail}
				required
				autoFocus
			/>
			<TextField
				label={words.password}
				type="password"
				name="password"
				autoComplete="current-password"
				value={password}
				onChange={setPassword}
				error={error}
				required
			/>
			<Wait wait={wait} />
			<Button type="submit" variant="primary" busy={busy}>
				{words.enter}
			</Button>
			<Link href="/-/forgot-password">{words.forgot}</Link>
			{options?.signup_enabled && <a href={outside.signUp}>{words.signUp}</a>}
			{options?.setup_required && <p>{words.setup}</p>}
		</Welcome>
	);
}
