import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { Link } from "wouter";
import { api } from "../../api/client";
import type { Enrollment } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { AddToSequence } from "./AddToSequence";
import css from "./Lists.module.css";
import { within } from "../../base/queries";
import { enrollmentsQuery } from "./queries";
import { to } from "../../base/paths";

const StepLog = lazyComponent(() => import("../sequences/StepLog"));

const words = catalogue("contacts.sequences", {
	title: "Sequences",
	none: "Not in any sequence.",
	add: "Add to a sequence",
	entered: "Entered:",
	steps: "Steps",
	stepsOf: "Steps in {name}",
	exit: "Remove",
	question: "Remove from {name}?",
	text: "This person gets no more emails from this sequence. This cannot be undone.",
});

/** Sequences shows the sequences that a contact went or goes through. */
export function Sequences({ id }: { id: string }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /sequences/{id}/enrollments/{enrollment_id}/exit");
	const addDisabledReason = useDisabledReason("POST /sequences/{id}/enroll");
	const [adding, setAdding] = useState(false);
	const [shown, setShown] = useState<Enrollment | null>(null);
	const [exiting, setExiting] = useState<Enrollment | null>(null);
	const all = useQuery(enrollmentsQuery(id));
	const refresh = () => void client.invalidateQueries(within("contact.enrollments", id));
	const exit = useMutation({
		mutationFn: (enrollment: Enrollment) =>
			api("POST /sequences/{id}/enrollments/{enrollment_id}/exit", {
				path: { id: enrollment.sequence_id, enrollment_id: enrollment.enrollment_id },
			}),
		onSuccess: () => {
			setExiting(null);
			refresh();
		},
	});
	if (all.isPending) return <Skeleton rows={4} />;
	if (all.isError) return <Failure error={all.error} retry={() => void all.refetch()} />;
	return (
		<Card
			title={words.title}
			actions={
				<Button small disabledReason={addDisabledReason} onClick={() => setAdding(true)}>
					{words.add}
				</Button>
			}
		>
			{all.data.data.length === 0 && <p>{words.none}</p>}
			<ul className={css.lists}>
				{all.data.data.map((enrollment) => (
					<li key={enrollment.enrollment_id}>
						<Link href={to.sequence(enrollment.sequence_id)}>{enrollment.sequence_name}</Link>
						<StateBadge kind="enrollment" state={enrollment.status} />
						<span>
							{words.entered} <Time at={enrollment.entered_at} />
						</span>
						<Button
							small
							aria-label={words.stepsOf({ name: enrollment.sequence_name })}
							onClick={() => setShown(enrollment)}
						>
							{words.steps}
						</Button>
						{(enrollment.status === "active" || enrollment.status === "paused") && (
							<Button small disabledReason={disabledReason} onClick={() => setExiting(enrollment)}>
								{words.exit}
							</Button>
						)}
					</li>
				))}
			</ul>
			{shown && (
				<Suspense>
					<StepLog enrollment={shown} onClose={() => setShown(null)} />
				</Suspense>
			)}
			{adding && <AddToSequence id={id} onClose={() => setAdding(false)} onAdded={refresh} />}
			{exiting && (
				<Confirm
					title={words.question({ name: exiting.sequence_name })}
					action={words.exit}
					busy={exit.isPending}
					error={exit.error && <p role="alert">{explain(exit.error)}</p>}
					onConfirm={() => exit.mutate(exiting)}
					onClose={() => setExiting(null)}
				>
					<p>{words.text}</p>
				</Confirm>
			)}
		</Card>
	);
}
