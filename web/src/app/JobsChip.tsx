import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { api } from "../api/client";
import type { JobSession, ShellView } from "../api/schema";
import { Button } from "../ui/Button";
import { Popup } from "../ui/Popup";
import { Progress } from "../ui/Progress";
import { toast } from "../ui/Toast";
import { catalogue } from "../base/words/catalogue";
import { full } from "../base/words/formats";
import { explain } from "../base/words/errors";
import { stateOf } from "../base/words/status";
import css from "./JobsChip.module.css";
import { useWhyNot } from "../base/session";
import { jobsChanged, underWay, useShell } from "../base/shell";
import { to } from "../base/paths";

const words = catalogue("shell.jobsChip", {
	title: "Jobs in progress",
	chip: "{count, plural, one {# job} other {# jobs}}",
	chipWith: "{count, plural, one {# job} other {# jobs}} · {percent} %",
	of: "{count, number} of {total, number}",
	cancel: "Cancel",
	cancelName: "Cancel {title}",
	all: "All jobs",
	begun: "{title}: started, 0 %",
	half: "{title}: 50 %",
	ended: "{title}: 100 %, {state}",
});

/** shareOf is how much of some jobs is done, from 0 to 1; null if one of them does not know. */
function shareOf(jobs: JobSession[]): number | null {
	let done = 0;
	let total = 0;
	for (const { progress } of jobs) {
		if (!progress.total) return null;
		done += progress.processed;
		total += progress.total;
	}
	return total > 0 ? done / total : null;
}

/** useStages says when a job begins, is half done, and ends. Jobs that had ended before are not mentioned. */
function useStages(jobs: JobSession[]): string {
	const stages = useRef(new Map<string, number>());
	const [said, setSaid] = useState("");
	useEffect(() => {
		const news: string[] = [];
		for (const j of jobs) {
			const before = stages.current.get(j.id);
			const now = underWay(j) ? ((shareOf([j]) ?? 0) >= 0.5 ? 1 : 0) : 2;
			if (before === now || (before === undefined && now === 2)) continue;
			stages.current.set(j.id, now);
			news.push(
				now === 2
					? words.ended({ title: j.title, state: stateOf("job", j.status).word })
					: now === 1
						? words.half({ title: j.title })
						: words.begun({ title: j.title }),
			);
		}
		if (news.length > 0) setSaid(news.join(". "));
	}, [jobs]);
	return said;
}

const none: JobSession[] = [];
const jobsOf = (shell: ShellView) => shell.jobs;

/** JobsChip shows the jobs under way, with their progress, and cancels them. */
export function JobsChip() {
	const client = useQueryClient();
	const why = useWhyNot("POST /jobs/{id}/cancel");
	const jobs = useShell(jobsOf);
	const cancel = useMutation({
		mutationFn: (id: string) => api("POST /jobs/{id}/cancel", { path: { id } }),
		onSettled: () => jobsChanged(client),
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	const all = jobs.data ?? none;
	const said = useStages(all);
	const running = all.filter(underWay);
	const share = shareOf(running);
	return (
		<>
			<span className="visually-hidden" role="status">
				{said}
			</span>
			{running.length > 0 && (
				<Popup
					end
					label={words.title}
					button={
						share === null
							? words.chip({ count: running.length })
							: words.chipWith({ count: running.length, percent: Math.floor(share * 100) })
					}
					className={css.chip}
				>
					{(close) => (
						<div className={css.panel}>
							<ul>
								{running.map((j) => (
									<li key={j.id}>
										<p>
											<b>{j.title}</b>
											<Button
												small
												why={why}
												busy={cancel.isPending && cancel.variables === j.id}
												aria-label={words.cancelName({ title: j.title })}
												onClick={() => cancel.mutate(j.id)}
											>
												{words.cancel}
											</Button>
										</p>
										<Progress
											label={j.title}
											value={j.progress.processed}
											max={j.progress.total}
											text={
												j.progress.total
													? words.of({ count: j.progress.processed, total: j.progress.total })
													: full(j.progress.processed)
											}
										/>
									</li>
								))}
							</ul>
							<Link href={to.jobs()} onClick={close}>
								{words.all}
							</Link>
						</div>
					)}
				</Popup>
			)}
		</>
	);
}
