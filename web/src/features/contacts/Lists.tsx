import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, newKey } from "../../api/client";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Lists.module.css";
import { within } from "../../base/queries";
import { listsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.lists", {
	title: "Lists",
	none: "Not on any list.",
	add: "Add to list",
	remove: "Remove",
	since: "Added:",
	done: "Removed from {name}",
});

/** Lists shows the lists that a contact is a member of. */
export function Lists({ id }: { id: string }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /contacts/bulk");
	const lists = useQuery(listsQuery(id));
	const segments = useCollection("segments");
	const change = useMutation({
		mutationFn: (variables: { add: boolean; segment: string; name: string; undone?: boolean }) =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: {
					action: variables.add ? "add_to_list" : "remove_from_list",
					contact_ids: [id],
					params: { segment_key: variables.segment },
				},
			}),
		onSuccess: (_, variables) => {
			void client.invalidateQueries(within("contact.lists", id));
			if (!variables.add)
				toast(words.done({ name: variables.name }), { undo: () => change.mutate({ ...variables, add: true }) });
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	if (lists.isPending) return <Skeleton rows={4} />;
	if (lists.isError) return <Failure error={lists.error} retry={() => void lists.refetch()} />;
	const rows = lists.data.data;
	const others = (segments.data?.data ?? []).filter(
		(segment) => segment.type === "static" && !rows.some((row) => row.segment_key === segment.segment_key),
	);
	return (
		<Card title={words.title}>
			{rows.length === 0 && <p>{words.none}</p>}
			<ul className={css.lists}>
				{rows.map((row) => (
					<li key={row.segment_key}>
						<Link href={to.segment(row.segment_key)}>{row.name}</Link>
						<span>
							{words.since} <Time at={row.member_added_at} />
						</span>
						<Button
							small
							variant="quiet"
							disabledReason={disabledReason}
							onClick={() => change.mutate({ add: false, segment: row.segment_key, name: row.name })}
						>
							{words.remove}
						</Button>
					</li>
				))}
			</ul>
			{!disabledReason && others.length > 0 && (
				<Combo
					key={rows.length}
					label={words.add}
					options={others.map((segment) => ({ id: segment.segment_key, label: segment.name }))}
					value={null}
					onChange={(segment) => segment && change.mutate({ add: true, segment, name: segment })}
				/>
			)}
		</Card>
	);
}
