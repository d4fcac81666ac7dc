import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Enrollment } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { to } from "../../base/paths";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { graphOf } from "./graph";
import { sequenceQuery, stepsQuery } from "./queries";
import css from "./StepLog.module.css";
import { nameOfStep, reasonOfStep, wayOfStep } from "./stepReasons";
import { useNames } from "./useNames";

const words = catalogue("sequences.stepLogDrawer", {
	title: "Steps of {email} in {name}",
	none: "No step is recorded.",
	omitted: "{count, plural, one {# earlier step is not kept.} other {# earlier steps are not kept.}}",
	entered: "Entered:",
	left: "Left:",
	changed: "This step was changed since.",
	flow: "Show the path in the flow",
	close: "Close",
});

/** StepLog is the drawer of the steps that somebody took in a sequence, and why. */
export default function StepLog({ enrollment, onClose }: { enrollment: Enrollment; onClose: () => void }) {
	const { sequence_id: id, enrollment_id, email, sequence_name } = enrollment;
	const names = useNames();
	const sequence = useQuery(sequenceQuery(id));
	const log = useQuery(stepsQuery(id, enrollment_id));
	const graph = sequence.data && graphOf(sequence.data.data);
	return (
		<Dialog
			drawer="wide"
			title={words.title({ email, name: sequence_name })}
			onClose={onClose}
			footer={<Button onClick={onClose}>{words.close}</Button>}
		>
			{log.isError || sequence.isError ? (
				<Failure error={log.error ?? sequence.error} retry={() => void log.refetch()} />
			) : !log.data || !graph ? (
				<Skeleton rows={6} />
			) : (
				<>
					<p>
						<Link href={to.sequence(id, { person: enrollment_id })}>{words.flow}</Link>
					</p>
					{log.data.omitted > 0 && <p>{words.omitted({ count: log.data.omitted })}</p>}
					{log.data.data.length === 0 && <p>{words.none}</p>}
					<ol className={css.log} start={log.data.data[0]?.number}>
						{log.data.data.map((step) => (
							<li key={step.number}>
								<p>
									<b>{nameOfStep(step, graph, names)}</b>
								</p>
								<p>
									{reasonOfStep(step, names)} {wayOfStep(step, graph)}
								</p>
								<small>
									{words.entered} <Time at={step.entered_at} />
									{step.left_at && (
										<>
											{" · "}
											{words.left} <Time at={step.left_at} />
										</>
									)}
									{step.node_changed && ` · ${words.changed}`}
								</small>
							</li>
						))}
					</ol>
				</>
			)}
		</Dialog>
	);
}
