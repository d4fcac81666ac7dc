import { useEffect, useState, useSyncExternalStore } from "react";
import { ApiError, api } from "../api/client";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextField } from "../ui/Field";
import { catalogue } from "../base/words/catalogue";
import { explain } from "../base/words/errors";
import { useSession } from "../base/session";
import { resumeRequests, hasPendingRequests, subscribePendingRequests } from "../base/sessionEnd";
import { onTabMessage, notifyTabs } from "../base/tabs";
import { outside } from "../base/paths";

const words = catalogue("shell.signInDialog", {
	title: "Your session has ended",
	text: "Sign in again as {email} to continue. Nothing on this page is lost.",
	password: "Password",
	enter: "Sign in",
	leave: "Leave",
});

/** SignInDialog asks for the password over the page when the session ends, and then lets requests run again. */
export default function SignInDialog() {
	const { user } = useSession();
	const isWaiting = useSyncExternalStore(subscribePendingRequests, hasPendingRequests);
	const [password, setPassword] = useState("");
	const [error, setError] = useState("");
	const [busy, setBusy] = useState(false);
	// Another tab has signed in again.
	useEffect(() => onTabMessage((other) => other === user.id && resumeRequests()), [user.id]);
	if (!isWaiting) return null;
	const submit = async () => {
		setBusy(true);
		try {
			await api("POST /api/auth/login", { body: { email: user.email, password }, silent: true });
			notifyTabs(user.id);
			resumeRequests();
			setPassword("");
			setError("");
		} catch (error) {
			setError(error instanceof ApiError ? explain(error) : String(error));
		} finally {
			setBusy(false);
		}
	};
	return (
		<Dialog
			title={words.title}
			mustAnswer
			onClose={() => undefined}
			onSubmit={() => void submit()}
			footer={
				<>
					<Button onClick={() => location.assign(outside.login)}>{words.leave}</Button>
					<Button type="submit" variant="primary" busy={busy}>
						{words.enter}
					</Button>
				</>
			}
		>
			<p>{words.text({ email: user.email })}</p>
			<input type="email" autoComplete="username" value={user.email} readOnly hidden />
			<TextField
				label={words.password}
				type="password"
				autoComplete="current-password"
				value={password}
				onChange={setPassword}
				error={error}
				autoFocus
			/>
		</Dialog>
	);
}
