import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { BroadcastContent, BroadcastSessionView } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Diff } from "../../ui/Diff";
import { MailFrame } from "../../ui/MailFrame";
import { Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Composer.module.css";
import { contentOf } from "./Preview";
import { Problems } from "./Problems";
import { within } from "../../base/queries";
import { compareQuery } from "./queries";

const words = catalogue("broadcasts.templateChanged", {
	title: "The template has changed",
	about:
		"This draft contains the email as it was made from the template at that time. Updated, it would look like the second one.",
	kept: "As in the draft",
	anew: "Updated",
	difference: "Differences in the HTML",
	take: "Update",
	keep: "Keep as is",
	gone: "The template was deleted. Choose another one, or write your own code.",
});

/** TemplateChanged compares a draft with what its template would make of it now. */
export function TemplateChanged({
	saved: broadcast,
	onClose,
	onDone,
}: {
	saved: BroadcastSessionView;
	onClose: () => void;
	onDone: () => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /broadcasts/{broadcast_id}");
	const before = useQuery(compareQuery(broadcast.id, broadcast.updated_at, "kept", { broadcast_id: broadcast.id }));
	const now = useQuery(
		compareQuery(broadcast.id, broadcast.updated_at, "anew", { content: contentOf(broadcast.content) }),
	);
	const isDeleted = now.data?.problems.some((problem) => problem.code === "INVALID_TEMPLATE");
	const applyTemplate = useMutation({
		mutationFn: () =>
			api("PUT /broadcasts/{broadcast_id}", {
				path: { broadcast_id: broadcast.id },
				body: {
					content: {
						template_slug: broadcast.content.template_slug,
						template_binding: broadcast.content.template_binding ?? {},
					} as BroadcastContent,
				},
			}),
		onSuccess: () => {
			void client.invalidateQueries(within("broadcast", broadcast.id));
			onDone();
		},
	});
	return (
		<Dialog
			drawer="wide"
			title={words.title}
			onClose={onClose}
			footer={
				<>
					<Button onClick={onClose}>{words.keep}</Button>
					<Button
						variant="primary"
						disabledReason={disabledReason ?? (isDeleted ? words.gone : undefined)}
						busy={applyTemplate.isPending}
						onClick={() => applyTemplate.mutate()}
					>
						{words.take}
					</Button>
				</>
			}
		>
			<p>{words.about}</p>
			{applyTemplate.error && <Callout tone="danger">{explain(applyTemplate.error)}</Callout>}
			{!before.data || !now.data ? (
				<Skeleton rows={8} />
			) : (
				<>
					{now.data.problems.length > 0 && <Problems problems={now.data.problems} />}
					<div className={css.compare}>
						<section aria-label={words.kept}>
							<h3>{words.kept}</h3>
							<p>{before.data.subject}</p>
							<MailFrame html={before.data.html} text={before.data.text} />
						</section>
						<section aria-label={words.anew}>
							<h3>{words.anew}</h3>
							<p>{now.data.subject}</p>
							<MailFrame html={now.data.html} text={now.data.text} />
						</section>
					</div>
					<h3>{words.difference}</h3>
					<Diff label={words.difference} before={before.data.html ?? ""} after={now.data.html ?? ""} />
				</>
			)}
		</Dialog>
	);
}
