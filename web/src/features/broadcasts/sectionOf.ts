/** sectionOf returns the section of the composer that a field is in. */
export function sectionOf(path: string): string {
	if (path.startsWith("variants")) return "variants";
	if (path.includes("segment")) return "audience";
	if (/^(email_type|sending_identity|mta_config|delivery_lanes|content\.from_name|content\.reply_to)/.test(path))
		return "from";
	if (
		path.startsWith("content") ||
		path.startsWith("parameters") ||
		path.startsWith("sections") ||
		path.startsWith("slots")
	)
		return "content";
	return path === "name" ? "name" : "delivery";
}

/** pathIn returns the field that a message begins with, such as "content.subject, line 1: …". */
export const pathIn = (message: string) => message.match(/^((?:content|variants)[\w.[\]]*)[:,]/)?.[1];
