import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { ApiError, api } from "../../api/client";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { NewPassword } from "../../ui/NewPassword";
import { catalogue } from "../../base/words/catalogue";
import { WithLink } from "./link";
import { slugOf } from "./slug";
import { useWait, Wait } from "./Wait";
import { Welcome } from "./Welcome";
import { sessionQuery } from "../../sync/session";
import { toWorkspace } from "../../base/paths";

const words = catalogue("signin.signUp", {
	title: "Sign up",
	about: "This creates a workspace with you as its owner.",
	workspace: "Workspace name",
	workspaceHelp: "Your company or team, such as Acme Ltd.",
	slug: "Workspace address",
	slugHelp: "{address}: lower-case letters, digits and hyphens. It stays the same if the name changes.",
	name: "Your name",
	email: "Your email address",
	password: "Password",
	submit: "Create workspace",
});

/** The fields that are to be corrected when the server refuses them as duplicates. */
const duplicates: { [code: string]: string } = { DUPLICATE_SLUG: "tenant_slug", DUPLICATE_EMAIL: "email" };

/** SignUp is the page of the set-up link, and of anybody where sign-up is on. */
export default function SignUp() {
	return (
		<WithLink kind="signup" title={words.title}>
			{(_, token) => <Form token={token} />}
		</WithLink>
	);
}

function Form({ token }: { token: string }) {
	const [derived, setDerived] = useState(true);
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const wait = useWait();
	const form = useForm({ tenant_name: "", tenant_slug: "", name: "", email: "", password: "" });
	const { values, problems } = form;
	const send = () =>
		form.submit(async () => {
			try {
				const session = await api("POST /api/auth/signup", {
					body: { ...values, email: values.email.trim(), setup_token: token || null },
					silent: true,
				});
				client.setQueryData(sessionQuery().queryKey, session);
				navigate(toWorkspace(values.tenant_slug), { replace: true });
			} catch (error) {
				wait.catch(error);
				const path = error instanceof ApiError ? duplicates[error.code] : undefined;
				throw path && error instanceof ApiError
					? new ApiError(error.status, error.code, error.message, { path })
					: error;
			}
		});
	return (
		<Welcome title={words.title} onSubmit={() => void send()}>
			<p>{words.about}</p>
			<Wait wait={wait} />
			{!wait.seconds && <FormProblems problems={problems} />}
			<TextField
				label={words.workspace}
				path="tenant_name"
				autoComplete="organization"
				help={words.workspaceHelp}
				value={values.tenant_name}
				onChange={(tenant_name) =>
					form.set(derived ? { tenant_name, tenant_slug: slugOf(tenant_name) } : { tenant_name })
				}
				error={problems.byPath.tenant_name}
				autoFocus
				required
			/>
			<TextField
				label={words.slug}
				path="tenant_slug"
				autoComplete="off"
				spellCheck={false}
				help={words.slugHelp({ address: `${location.host}/app/${values.tenant_slug || "acme"}` })}
				value={values.tenant_slug}
				onChange={(tenant_slug) => {
					setDerived(tenant_slug === "");
					form.set({ tenant_slug });
				}}
				error={problems.byPath.tenant_slug}
				required
			/>
			<TextField
				label={words.name}
				path="name"
				autoComplete="name"
				value={values.name}
				onChange={(name) => form.set({ name })}
				error={problems.byPath.name}
				required
			/>
			<TextField
				label={words.email}
				path="email"
				type="email"
				name="email"
				autoComplete="username"
				value={values.email}
				onChange={(email) => form.set({ email })}
				error={problems.byPath.email}
				required
			/>
			<NewPassword
				label={words.password}
				path="password"
				value={values.password}
				onChange={(password) => form.set({ password })}
				error={problems.byPath.password}
			/>
			<Button type="submit" variant="primary" busy={form.busy}>
				{words.submit}
			</Button>
		</Welcome>
	);
}
