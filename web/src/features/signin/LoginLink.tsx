import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { ApiError, api } from "../../api/client";
import { Button } from "../../ui/Button";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { useWait, Wait } from "./Wait";
import { Welcome } from "./Welcome";
import { linkQuery } from "./queries";
import { sessionQuery } from "../../sync/session";
import { to } from "../../base/paths";

const words = catalogue("signin.loginLink", {
	title: "Sign in",
	about: "This link signs you in as {name} ({email}), once.",
	enter: "Sign in as {email}",
	invalid: "This link is no longer valid",
	used: "It has already been used, or it is older than ten minutes. The operator can create a new one:",
	password: "Sign in with a password",
	again: "Try again",
	failed: "The link could not be checked",
});

/** LoginLink is the page of a link that signs in. It asks first, so that nobody is signed in by opening a page. */
export default function LoginLink() {
	// The token is in the fragment, which no request contains. It leaves the address bar at once.
	const [token] = useState(() => window.location.hash.slice(1));
	const [, navigate] = useLocation();
	const client = useQueryClient();
	const wait = useWait();
	const [error, setError] = useState("");
	const [invalid, setInvalid] = useState(false);
	const [busy, setBusy] = useState(false);
	useEffect(() => {
		if (window.location.hash) window.history.replaceState(window.history.state, "", window.location.pathname);
	}, []);
	const link = useQuery(linkQuery("login", token));
	const isInvalid = (error: unknown) => error instanceof ApiError && error.code === "INVALID_TOKEN";
	if (link.isPending) {
		return (
			<Welcome title={words.title}>
				<Skeleton rows={3} />
			</Welcome>
		);
	}
	if (invalid || isInvalid(link.error)) {
		return (
			<Welcome title={words.invalid}>
				<p>{words.used}</p>
				<code>packetboat user login-link --email you@example.com</code>
				<Link href="/-/login">{words.password}</Link>
			</Welcome>
		);
	}
	if (link.isError) {
		return (
			<Welcome title={words.failed}>
				<p role="alert">{explain(link.error)}</p>
				<Button onClick={() => void link.refetch()}>{words.again}</Button>
			</Welcome>
		);
	}
	const email = link.data.email ?? "";
	const completeSignIn = async () => {
		setBusy(true);
		setError("");
		try {
			const session = await api("POST /api/auth/login-link", { body: { token }, silent: true });
			client.clear();
			client.setQueryData(sessionQuery().queryKey, session);
			navigate(to.home(), { replace: true });
		} catch (error) {
			if (isInvalid(error)) setInvalid(true);
			else if (!wait.catch(error)) setError(explain(error));
			setBusy(false);
		}
	};
	return (
		<Welcome title={words.title} onSubmit={() => void completeSignIn()}>
			<p>{words.about({ name: link.data.name ?? "", email })}</p>
			<Wait wait={wait} />
			{error && <p role="alert">{error}</p>}
			<Button type="submit" variant="primary" busy={busy} autoFocus>
				{words.enter({ email })}
			</Button>
		</Welcome>
	);
}
