import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { ApiError, api } from "../../api/client";
import type { LinkView, SessionView } from "../../api/schema";
import { sessionQuery, useSessionQuery, useSignOut } from "../../sync/session";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { NewPassword } from "../../ui/NewPassword";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { roleName } from "../../base/words/roles";
import { NewLink, WithLink } from "./link";
import { useWait, Wait } from "./Wait";
import { Welcome } from "./Welcome";
import { toWorkspace } from "../../base/paths";

const words = catalogue("signin.accept", {
	title: "Accept invitation",
	to: "You have been invited to {tenant} as {role}.",
	login: "Account",
	name: "Your name",
	choose: "Password",
	current: "Password",
	currentHelp: "The password you sign in with.",
	unknown: "If you do not know this password or never set one:",
	either: "Choose a password of at least 10 characters, or enter the one you sign in with.",
	submit: "Accept",
	join: "Accept as {email}",
	other: "You are signed in as {email}, but the invitation is for {invited}. Accepting it signs you in as {invited}.",
	out: "Sign out",
});

/** withName gives a new login its name, which accepting did not set if the link was not mailed. If that fails, it can be set later. */
async function withName(session: SessionView, name: string): Promise<SessionView> {
	if (session.user.name === name) return session;
	return api("PUT /api/auth/profile", { body: { name }, silent: true }).catch(() => session);
}

/** Accept is the page of an invitation. Whoever is signed in with its address needs one button, unless the link asks for a new password. */
export default function Accept() {
	return (
		<WithLink kind="invitation" title={words.title}>
			{(link, token) => <Accepting link={link} token={token} />}
		</WithLink>
	);
}

function Accepting({ link, token }: { link: LinkView; token: string }) {
	const session = useSessionQuery();
	const client = useQueryClient();
	const signOut = useSignOut();
	const [, navigate] = useLocation();
	const wait = useWait();
	const [error, setError] = useState("");
	const [busy, setBusy] = useState(false);
	const email = link.email ?? "";
	const form = useForm({ name: link.password === "new" ? "" : (link.name ?? ""), password: "" });
	const { values, problems } = form;
	/** completeSignIn opens the workspace that was not there before. */
	const completeSignIn = (now: SessionView) => {
		const before = session.data?.memberships.map((membership) => membership.tenant_id) ?? [];
		const added = now.memberships.filter((membership) => membership.tenant_name === link.tenant_name);
		const slug = (added.find((membership) => !before.includes(membership.tenant_id)) ?? added[0])?.tenant_slug ?? "";
		client.setQueryData(sessionQuery().queryKey, now);
		navigate(toWorkspace(slug), { replace: true });
	};
	const send = () =>
		form.submit(async () => {
			try {
				const session = await api("POST /api/auth/invitations/accept", {
					body: { token, name: values.name, password: values.password },
					silent: true,
				});
				completeSignIn(link.password === "new" ? await withName(session, values.name.trim()) : session);
			} catch (error) {
				wait.catch(error);
				throw error instanceof ApiError && error.code === "INVALID_CREDENTIALS"
					? new ApiError(error.status, error.code, error.message, { path: "password" })
					: error;
			}
		});
	const join = async () => {
		setBusy(true);
		setError("");
		try {
			completeSignIn(await api("POST /api/auth/invitations/join", { body: { token }, silent: true }));
		} catch (error) {
			if (!wait.catch(error)) setError(explain(error));
			setBusy(false);
		}
	};
	const invited = <p>{words.to({ tenant: link.tenant_name ?? "", role: roleName(link.role ?? "") })}</p>;
	if (session.isPending) return <Welcome title={words.title}>{invited}</Welcome>;
	const signedInEmail = session.data?.user.email;
	if (signedInEmail === email && link.password === "current") {
		return (
			<Welcome title={words.title} onSubmit={() => void join()}>
				{invited}
				<Wait wait={wait} />
				{error && <p role="alert">{error}</p>}
				<Button type="submit" variant="primary" busy={busy} autoFocus>
					{words.join({ email })}
				</Button>
			</Welcome>
		);
	}
	return (
		<Welcome title={words.title} onSubmit={() => void send()}>
			{invited}
			{signedInEmail && signedInEmail !== email && (
				<>
					<p>{words.other({ email: signedInEmail, invited: email })}</p>
					<Button onClick={() => void signOut(location.href)}>{words.out}</Button>
				</>
			)}
			<Wait wait={wait} />
			{!wait.seconds && <FormProblems problems={problems} />}
			<TextField
				label={words.login}
				type="email"
				name="email"
				autoComplete="username"
				value={email}
				onChange={() => undefined}
				readOnly
			/>
			{link.password === "current" ? (
				<>
					<TextField
						label={words.current}
						path="password"
						type="password"
						autoComplete="current-password"
						help={words.currentHelp}
						value={values.password}
						onChange={(password) => form.set({ password })}
						error={problems.byPath.password}
						autoFocus
						required
					/>
					<p>{words.unknown}</p>
					<NewLink />
				</>
			) : (
				<>
					<TextField
						label={words.name}
						path="name"
						autoComplete="name"
						value={values.name}
						onChange={(name) => form.set({ name })}
						error={problems.byPath.name}
						autoFocus
						required
					/>
					<NewPassword
						label={words.choose}
						path="password"
						help={link.password === "either" ? words.either : undefined}
						value={values.password}
						onChange={(password) => form.set({ password })}
						error={problems.byPath.password}
					/>
				</>
			)}
			<Button type="submit" variant="primary" busy={form.busy}>
				{words.submit}
			</Button>
		</Welcome>
	);
}
