import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSearch } from "wouter";
import { ApiError } from "../../api/client";
import { useOptions } from "../../base/session";
import { Button } from "../../ui/Button";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { Welcome } from "./Welcome";
import { linkQuery } from "./queries";
import { outside } from "../../base/paths";

const words = catalogue("signin.link", {
	again: "Try again",
	failed: "The link could not be checked",
	invalid: "This link is no longer valid",
	used: "It has already been used, or it is too old.",
	incomplete: "This link is incomplete",
	incompleteText: "Part of the address is missing. Open the link again from where you got it, or copy all of it.",
	signUp:
		"Until somebody signs up, the program logs a new link at each start. Find it in the log of packetboat serve. It starts like this:",
	off: "Sign-up is off",
	offText: "Ask a colleague for an invitation, or the operator for an account. If you have an account, sign in.",
	reset:
		"This installation does not send email of its own. Its operator can create a new link for you with this command:",
	forgot: "Request a new link",
	invitation: "Ask the person who invited you for a new link.",
	expired: "This invitation has expired",
	expiredText: "An invitation to {tenant} is valid for seven days. {who} can send you a new one.",
	somebody: "An admin or owner of the workspace",
	enter: "Sign in",
});

type Kind = "signup" | "password_reset" | "invitation";

/** useLink reads what the link of the address is for. The token stays in the address, so that reloading works. */
export function useLink(kind: Kind) {
	const params = new URLSearchParams(useSearch());
	const token = params.get(kind === "signup" ? "setup_token" : "token") ?? "";
	const query = useQuery(linkQuery(kind, token));
	return { token, ...query };
}

/** NewLink says how to get another link to choose a password. */
export function NewLink() {
	const options = useOptions();
	if (options.isPending) return <Skeleton rows={2} />;
	if (options.data?.account_mail !== false) return <a href={outside.forgotPassword}>{words.forgot}</a>;
	return (
		<>
			<p>{words.reset}</p>
			<code>packetboat user reset-password --email you@example.com</code>
		</>
	);
}

/** WithLink shows what is wrong with a link, or else its page. */
export function WithLink({
	kind,
	title,
	children,
}: {
	kind: Kind;
	title: string;
	children: (link: NonNullable<ReturnType<typeof useLink>["data"]>, token: string) => ReactNode;
}) {
	const link = useLink(kind);
	if (link.isPending) {
		return (
			<Welcome title={title}>
				<Skeleton rows={4} />
			</Welcome>
		);
	}
	if (link.isError) {
		const code = link.error instanceof ApiError ? link.error.code : "";
		if (code === "SIGNUP_DISABLED") {
			return (
				<Welcome title={words.off}>
					<p>{words.offText}</p>
					<a href={outside.login}>{words.enter}</a>
				</Welcome>
			);
		}
		if (code === "INVALID_TOKEN") {
			return (
				<Welcome title={link.token ? words.invalid : words.incomplete}>
					<p>{link.token ? words.used : words.incompleteText}</p>
					{kind === "signup" && (
						<p>
							{words.signUp} <code>{location.origin}/signup?setup_token=</code>
						</p>
					)}
					{kind === "password_reset" && <NewLink />}
					{kind === "invitation" && <p>{words.invitation}</p>}
					{kind !== "signup" && <a href={outside.login}>{words.enter}</a>}
				</Welcome>
			);
		}
		return (
			<Welcome title={words.failed}>
				<p role="alert">{explain(link.error)}</p>
				<Button onClick={() => void link.refetch()}>{words.again}</Button>
			</Welcome>
		);
	}
	if (link.data.expired) {
		const { senders, tenant_name } = link.data;
		return (
			<Welcome title={words.expired}>
				<p>
					{words.expiredText({ tenant: tenant_name ?? "", who: senders.length > 0 ? and(senders) : words.somebody })}
				</p>
				<a href={outside.login}>{words.enter}</a>
			</Welcome>
		);
	}
	return children(link.data, link.token);
}
