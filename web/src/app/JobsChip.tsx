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
import { jobTitle } from "../base/words/jobTitles";
import { exactNumber } from "../base/words/formats";
import { explain } from "../base/words/errors";
import { stateOf } from "../base/words/status";
import css from "./JobsChip.module.css";
import { useDisabledReason } from "../base/session";
import { jobsChanged, isRunning, useShell } from "../base/shell";
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
	const [announcement, setAnnouncement] = useState("");
	useEffect(() => {
		const announcements: string[] = [];
		for (const job of jobs) {
			const before = stages.current.get(job.id);
			const now = isRunning(job) ? ((shareOf([job]) ?? 0) >= 0.5 ? 1 : 0) : 2;
			if (before === now || (before === undefined && now === 2)) continue;
			stages.current.set(job.id, now);
			announcements.push(
				now === 2
					? words.ended({ title: jobTitle(job.title), state: stateOf("job", job.status).word })
					: now === 1
						? words.half({ title: jobTitle(job.title) })
						: words.begun({ title: jobTitle(job.title) }),
			);
		}
		if (announcements.length > 0) setAnnouncement(announcements.join(". "));
	}, [jobs]);
	return announcement;
}

const none: JobSession[] = [];
const jobsOf = (shell: ShellView) => shell.jobs;

/** JobsChip shows the jobs under way, with their progress, and cancels them. */
export function JobsChip() {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /jobs/{id}/cancel");
	const jobs = useShell(jobsOf);
	const cancel = useMutation({
		mutationFn: (id: string) => api("POST /jobs/{id}/cancel", { path: { id } }),
		onSettled: () => jobsChanged(client),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const all = jobs.data ?? none;
	const stageText = useStages(all);
	const running = all.filter(isRunning);
	const fraction = shareOf(running);
	return (
		<>
			<span className="visually-hidden" role="status">
				{stageText}
			</span>
			{running.length > 0 && (
				<Popup
					end
					label={words.title}
					button={
						fraction === null
							? words.chip({ count: running.length })
							: words.chipWith({ count: running.length, percent: Math.floor(fraction * 100) })
					}
					className={css.chip}
				>
					{(close) => (
						<div className={css.panel}>
							<ul>
								{running.map((job) => (
									<li key={job.id}>
										<p>
											<b>{jobTitle(job.title)}</b>
											<Button
												small
												disabledReason={disabledReason}
												busy={cancel.isPending && cancel.variables === job.id}
												aria-label={words.cancelName({ title: jobTitle(job.title) })}
												onClick={() => cancel.mutate(job.id)}
											>
												{words.cancel}
											</Button>
										</p>
										<Progress
											label={jobTitle(job.title)}
											value={job.progress.processed}
											max={job.progress.total}
											text={
												job.progress.total
													? words.of({ count: job.progress.processed, total: job.progress.total })
													: exactNumber(job.progress.processed)
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
