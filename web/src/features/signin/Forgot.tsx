import { useState } from "react";
import { Link } from "wouter";
import { api } from "../../api/client";
import { useOptions } from "../../base/session";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { TextField } from "../../ui/Field";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { Welcome } from "./Welcome";

const words = catalogue("signin.forgot", {
	title: "Choose a new password",
	email: "Email",
	send: "Send link",
	sent: "If there is an account with this address, a link to choose a new password is on its way. It is valid for one hour.",
	operator:
		"This installation does not send email of its own. Its operator can create a link for you with this command:",
	copy: "Copy command",
	back: "Back to sign-in",
});

/** Forgot asks for a link to choose a new password. Its answer is the same for every address. */
export default function Forgot() {
	const [email, setEmail] = useState("");
	const [sent, setSent] = useState(false);
	const [error, setError] = useState("");
	const options = useOptions();
	const command = `packetboat user reset-password --email ${email.trim() || "you@example.com"}`;
	const submit = async () => {
		try {
			await api("POST /api/auth/password/forgot", { body: { email: email.trim() }, silent: true });
			setSent(true);
		} catch (error) {
			setError(explain(error));
		}
	};
	return (
		<Welcome title={words.title} onSubmit={() => void submit()}>
			{options.isPending ? (
				<Skeleton rows={3} />
			) : options.data && !options.data.account_mail ? (
				<>
					<p>{words.operator}</p>
					<code>{command}</code>
					<div>
						<Copy text={command} subject={words.copy}>
							{words.copy}
						</Copy>
					</div>
				</>
			) : sent ? (
				<p role="status">{words.sent}</p>
			) : (
				<>
					<TextField
						label={words.email}
						type="email"
						autoComplete="username"
						value={email}
						onChange={setEmail}
						error={error}
						autoFocus
					/>
					<Button type="submit" variant="primary">
						{words.send}
					</Button>
				</>
			)}
			<Link href="/-/login">{words.back}</Link>
		</Welcome>
	);
}
