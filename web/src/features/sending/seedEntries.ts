/** seedEntries reads pasted addresses: one a line, with a provider after a comma, semicolon or tab, if there is one. */
export function seedEntries(text: string): { email: string; provider: string | null }[] {
	return text
		.split("\n")
		.map((line) => line.split(/[,;\t]/).map((part) => part.trim()))
		.filter(([email]) => email)
		.map(([email = "", provider]) => ({ email, provider: provider || null }));
}
