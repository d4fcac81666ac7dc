import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { Contact } from "../../api/schema";
import { Picks } from "../../ui/Combo";
import { Facts } from "../../ui/Page";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { within } from "../../base/queries";
import { contactQuery, tagsQuery } from "./queries";

const words = catalogue("contacts.tags", { tags: "Tags" });

/** Tags are changed by adding and removing, so that tags that others add meanwhile stay. */
export function Tags({ contact: c, off }: { contact: Contact; off: boolean }) {
	const client = useQueryClient();
	const [typed, setTyped] = useState("");
	const [opened, setOpened] = useState(false);
	const known = useQuery({ ...tagsQuery(typed), enabled: opened && !off });
	const change = useMutation({
		mutationFn: (v: { action: "add_tags" | "remove_tags"; tags: string[] }) =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: { action: v.action, contact_ids: [c.id], params: { tags: v.tags } },
			}),
		onMutate: (v) => {
			const next = v.action === "add_tags" ? [...c.tags, ...v.tags] : c.tags.filter((t) => !v.tags.includes(t));
			client.setQueryData(contactQuery(c.id).queryKey, (old) => old && { ...old, tags: next });
		},
		onError: (e) => toast(explain(e), { tone: "danger" }),
		onSettled: () => {
			void client.invalidateQueries(within("contact", c.id));
			void client.invalidateQueries(within("contacts"));
		},
	});
	const options = (known.data?.data ?? []).map((s) => ({ id: s.value, label: s.value, detail: s.count }));
	const fresh = typed.trim();
	if (fresh && !options.some((o) => o.id === fresh)) options.push({ id: fresh, label: fresh, detail: undefined });
	if (off) return <Facts rows={[[words.tags, c.tags.join(", ") || null]]} />;
	return (
		<Picks
			label={words.tags}
			options={options}
			values={c.tags}
			nameOf={(t) => t}
			onSearch={setTyped}
			onOpen={() => setOpened(true)}
			loading={known.isPending}
			onChange={(next) => {
				const added = next.filter((t) => !c.tags.includes(t));
				const removed = c.tags.filter((t) => !next.includes(t));
				if (added.length) change.mutate({ action: "add_tags", tags: added });
				if (removed.length) change.mutate({ action: "remove_tags", tags: removed });
			}}
		/>
	);
}
