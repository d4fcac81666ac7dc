import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Suspense, useCallback, useState } from "react";
import { Link, useLocation } from "wouter";
import { api } from "../../api/client";
import type { Enrollment, Sequence } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useParams } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Select } from "../../ui/Field";
import { NotSet } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { stateOf } from "../../base/words/status";
import rowsCss from "../../ui/Rows.module.css";
import { BulkJob } from "../jobs/BulkJob";
import { exitReason } from "./exitReasons";
import { graphOf, order, stepOf } from "./graph";
import { type Names, titleOf } from "./steps";
import { within } from "../../base/queries";
import { peopleQuery } from "./queries";
import { to } from "../../base/paths";

const StepLog = lazyComponent(() => import("./StepLog"));
const AddPeople = lazyComponent(() => import("./AddPeople"));

const words = catalogue("sequences.people", {
	title: "People in this sequence",
	step: "Step",
	anyStep: "Any step",
	status: "State",
	anyStatus: "Any state",
	email: "Address",
	here: "Step",
	since: "Since",
	until: "Continues by",
	entered: "Entered",
	left: "Left",
	why: "Reason",
	none: "Nobody has entered yet",
	noneText: "People who enter appear here with their current step.",
	add: "Add people",
	inactive: {
		draft: "Activate the sequence first: then people can enter.",
		paused: "Resume the sequence first: while it is paused, nobody enters.",
		archived: "The sequence is archived: nobody enters.",
	},
	noMatch: "Nobody matches",
	steps: "Steps",
	stepsOf: "Steps of {email}",
	exit: "Remove",
	exitOf: "Remove {email}",
	question: "Remove {email} from this sequence?",
	text: "This person gets no more emails from it. This cannot be undone.",
});

/** People lists who is and was in a sequence, or at one of its steps. */
export default function People({ sequence, names }: { sequence: Sequence; names: Names }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [params, set] = useParams();
	const disabledReason = useDisabledReason("POST /sequences/{id}/enrollments/{enrollment_id}/exit");
	const addDisabledReason = useDisabledReason("POST /sequences/{id}/enroll");
	const [adding, setAdding] = useState(false);
	const step = params.get("at") ?? "";
	const status = params.get("status") ?? "";
	const [shown, setShown] = useState<Enrollment | null>(null);
	const [exiting, setExiting] = useState<Enrollment | null>(null);
	const graph = graphOf(sequence);
	const query = useInfiniteQuery(peopleQuery(sequence.id, step, status));
	const refresh = () => void client.invalidateQueries(within("sequence", sequence.id));
	const exit = useMutation({
		mutationFn: (enrollment: Enrollment) =>
			api("POST /sequences/{id}/enrollments/{enrollment_id}/exit", {
				path: { id: sequence.id, enrollment_id: enrollment.enrollment_id },
			}),
		onSuccess: () => {
			setExiting(null);
			refresh();
		},
	});
	const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
	const onEnd = useCallback(() => {
		if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
	}, [hasNextPage, isFetchingNextPage, fetchNextPage]);
	const rows = query.data?.pages.flatMap((page) => page.data) ?? [];
	const title = (id: string | null) => {
		const step = stepOf(graph, id);
		return step ? titleOf(step, names, graph) : id;
	};
	const open = (enrollment: Enrollment) => enrollment.status === "active" || enrollment.status === "paused";
	return (
		<>
			<div className={rowsCss.tools}>
				<Select
					label={words.step}
					hideLabel
					value={step}
					onChange={(stepId) => set({ at: stepId })}
					choices={[
						{ value: "", label: words.anyStep },
						...order(graph).map((id) => ({ value: id, label: title(id) ?? id })),
					]}
				/>
				<Select
					label={words.status}
					hideLabel
					value={status}
					onChange={(value) => set({ status: value })}
					choices={[
						{ value: "", label: words.anyStatus },
						...["active", "paused", "completed", "exited", "failed"].map((item) => ({
							value: item,
							label: stateOf("enrollment", item).word,
						})),
					]}
				/>
				<Button
					disabledReason={
						addDisabledReason ?? (sequence.status === "active" ? undefined : words.inactive[sequence.status as "draft"])
					}
					onClick={() => setAdding(true)}
				>
					{words.add}
				</Button>
			</div>
			{query.isPending ? (
				<Skeleton rows={8} />
			) : query.isError ? (
				<Failure error={query.error} retry={() => void query.refetch()} />
			) : rows.length === 0 ? (
				step || status ? (
					<NoMatch
						title={words.noMatch}
						filters={[
							step !== "" && { name: title(step) ?? words.step, remove: () => set({ at: null }) },
							status !== "" && { name: stateOf("enrollment", status).word, remove: () => set({ status: null }) },
						]}
					/>
				) : (
					<Empty title={words.none}>{words.noneText}</Empty>
				)
			) : (
				<Table
					label={words.title}
					rows={rows}
					rowKey={(enrollment) => enrollment.enrollment_id}
					rowName={(enrollment) => enrollment.email}
					onEnd={onEnd}
					onOpen={(enrollment) => navigate(to.contact(enrollment.contact_id, { tab: "sequences" }))}
					columns={[
						{
							id: "email",
							name: words.email,
							cell: (enrollment) => (
								<Link href={to.contact(enrollment.contact_id, { tab: "sequences" })}>{enrollment.email}</Link>
							),
						},
						{
							id: "status",
							name: words.status,
							width: 160,
							minWidth: 156,
							cell: (enrollment) => (
								<StateBadge
									kind={open(enrollment) ? "enrollment" : "outcome"}
									state={open(enrollment) ? enrollment.status : enrollment.outcome}
								/>
							),
						},
						{
							id: "step",
							name: words.here,
							minWidth: 130,
							cell: (enrollment) => (enrollment.current_node_id ? title(enrollment.current_node_id) : <NotSet />),
						},
						{
							id: "since",
							name: words.since,
							width: 136,
							minWidth: 130,
							droppable: true,
							cell: (enrollment) => <Time at={enrollment.entered_node_at} />,
						},
						{
							id: "until",
							name: words.until,
							width: 128,
							minWidth: 122,
							cell: (enrollment) => <Time at={enrollment.due_at} />,
						},
						{
							id: "entered",
							name: words.entered,
							width: 136,
							minWidth: 130,
							droppable: true,
							cell: (enrollment) => <Time at={enrollment.entered_at} />,
						},
						{
							id: "left",
							name: words.left,
							width: 128,
							minWidth: 100,
							droppable: true,
							cell: (enrollment) => <Time at={enrollment.exited_at} />,
						},
						{
							id: "why",
							name: words.why,
							width: 150,
							droppable: true,
							cell: (enrollment) => exitReason(enrollment.exit_reason) ?? <NotSet />,
						},
						{
							id: "steps",
							name: "",
							width: 90,
							minWidth: 84,
							cell: (enrollment) => (
								<Button
									small
									variant="quiet"
									aria-label={words.stepsOf({ email: enrollment.email })}
									onClick={() => setShown(enrollment)}
								>
									{words.steps}
								</Button>
							),
						},
						{
							id: "exit",
							name: "",
							width: 112,
							minWidth: 104,
							cell: (enrollment) =>
								open(enrollment) && (
									<Button
										small
										variant="quiet"
										aria-label={words.exitOf({ email: enrollment.email })}
										disabledReason={disabledReason}
										onClick={() => setExiting(enrollment)}
									>
										{words.exit}
									</Button>
								),
						},
					]}
					card={(enrollment) => (
						<div className={rowsCss.card}>
							<div className={rowsCss.name}>
								<Link href={to.contact(enrollment.contact_id, { tab: "sequences" })}>{enrollment.email}</Link>
								<span>
									{enrollment.current_node_id ? title(enrollment.current_node_id) : exitReason(enrollment.exit_reason)}
								</span>
							</div>
							<StateBadge
								kind={open(enrollment) ? "enrollment" : "outcome"}
								state={open(enrollment) ? enrollment.status : enrollment.outcome}
							/>
						</div>
					)}
				/>
			)}
			{shown && (
				<Suspense>
					<StepLog enrollment={shown} onClose={() => setShown(null)} />
				</Suspense>
			)}
			{adding && (
				<Suspense>
					<AddPeople
						sequence={sequence}
						onClose={() => setAdding(false)}
						onAdded={refresh}
						onJob={(job) => set({ job })}
					/>
				</Suspense>
			)}
			{params.get("job") && (
				<BulkJob id={params.get("job") ?? ""} onClose={() => set({ job: null })} onEnded={refresh} />
			)}
			{exiting && (
				<Confirm
					title={words.question({ email: exiting.email })}
					action={words.exit}
					busy={exit.isPending}
					error={exit.error && <p role="alert">{explain(exit.error)}</p>}
					onConfirm={() => exit.mutate(exiting)}
					onClose={() => setExiting(null)}
				>
					<p>{words.text}</p>
				</Confirm>
			)}
		</>
	);
}
