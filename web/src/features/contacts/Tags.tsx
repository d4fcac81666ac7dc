import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { Contact } from "../../api/schema";
import { Picks } from "../../ui/Combo";
import { Facts } from "../../ui/Page";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { ofContacts, within } from "../../base/queries";
import { contactQuery, tagsQuery } from "./queries";

const words = catalogue("contacts.tags", { tags: "Tags" });

/** Tags are changed by adding and removing, so that tags that others add meanwhile stay. */
export function Tags({ contact, off }: { contact: Contact; off: boolean }) {
	const client = useQueryClient();
	const [search, setSearch] = useState("");
	const [wasOpened, setWasOpened] = useState(false);
	const known = useQuery({ ...tagsQuery(search), enabled: wasOpened && !off });
	const change = useMutation({
		mutationFn: (variables: { action: "add_tags" | "remove_tags"; tags: string[] }) =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: { action: variables.action, contact_ids: [contact.id], params: { tags: variables.tags } },
			}),
		onMutate: (variables) => {
			const next =
				variables.action === "add_tags"
					? [...contact.tags, ...variables.tags]
					: contact.tags.filter((tag) => !variables.tags.includes(tag));
			client.setQueryData(contactQuery(contact.id).queryKey, (old) => old && { ...old, tags: next });
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
		onSettled: () => {
			void client.invalidateQueries(within("contact", contact.id));
			void client.invalidateQueries(ofContacts());
		},
	});
	const options = (known.data?.data ?? []).map((suggestion) => ({
		id: suggestion.value,
		label: suggestion.value,
		detail: suggestion.count,
	}));
	const newTag = search.trim();
	if (newTag && !options.some((option) => option.id === newTag))
		options.push({ id: newTag, label: newTag, detail: undefined });
	if (off) return <Facts rows={[[words.tags, contact.tags.join(", ") || null]]} />;
	return (
		<Picks
			label={words.tags}
			options={options}
			values={contact.tags}
			nameOf={(tag) => tag}
			onSearch={setSearch}
			onOpen={() => setWasOpened(true)}
			loading={known.isPending}
			onChange={(next) => {
				const added = next.filter((tag) => !contact.tags.includes(tag));
				const removed = contact.tags.filter((tag) => !next.includes(tag));
				if (added.length) change.mutate({ action: "add_tags", tags: added });
				if (removed.length) change.mutate({ action: "remove_tags", tags: removed });
			}}
		/>
	);
}
