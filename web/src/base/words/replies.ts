import { attemptText } from "./attemptTexts";
import { catalogue } from "./catalogue";
import { mailProblem } from "./errors";

const words = catalogue("shell.replies", { render: "The content could not be filled in for this recipient. {why}" });

/** attemptError writes why a mail was not sent: the reply of a server as it was, or why there was nothing to send. */
export function attemptError(error: string): string {
	const [, reason] = /^render_error: (.*)$/s.exec(error) ?? [];
	if (reason === undefined) return attemptText(error) ?? error;
	return words.render({ why: attemptText(reason) ?? mailProblem({ field: "", message: reason }) });
}

/** replyOf writes a server's reply from its codes and its text, which often begins with them. */
export function replyOf(...parts: (string | number | null | undefined)[]): string {
	const texts = parts.map((part) => String(part ?? "")).filter(Boolean);
	const words = (texts.at(-1) ?? "").split(/[\s-]/, 2);
	return texts.filter((text, index) => index === texts.length - 1 || !words.includes(text)).join(" ");
}
