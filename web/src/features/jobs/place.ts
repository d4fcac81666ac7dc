/** pageOf is the page that shows a job with its first errors. */
export const pageOf = (j: { id: string; type: string }) =>
	j.type === "import" ? `/contacts/import?job=${j.id}` : `/contacts?job=${j.id}`;
