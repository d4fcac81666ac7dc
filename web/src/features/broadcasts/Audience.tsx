import { Link } from "wouter";
import type { BroadcastSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { LinkButton } from "../../ui/Button";
import { Picks } from "../../ui/Combo";
import { Callout } from "../../ui/Page";
import { isOld, Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { ago, exactNumber } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import css from "./Composer.module.css";
import type { Draft } from "./draft";
import { type Forecast, reasonName } from "./forecast";
import { peopleOf } from "./peopleLinks";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.audience", {
	include: "Send to",
	includeHelp: "Members of any of these get it once, even if they are in several.",
	exclude: "Exclude",
	make: "New segment",
	counted: "{count, number} can be mailed",
	matched: "{count, plural, one {# person matches} other {# people match}}",
	recipients: "{count, plural, one {# recipient} other {# recipients}}",
	asked:
		"{estimated, select, true {Estimated at {at, time}} other {Counted at {at, time}}}. Counted again when the send starts.",
	asking: "Counting recipients",
	nobody: "Choose at least one segment or list.",
	once: "Each person is counted under the first reason that applies.",
	ages: "Counted",
	withAge: "{count, number}, counted {when}",
});

/** useSegments reads the segments and lists of the workspace. */
export function useSegments(enabled = true) {
	return useCollection("segments", { enabled }).data?.data ?? [];
}

/** Audience chooses who gets the broadcast, and says how many they are. */
export function Audience({
	draft,
	value: broadcast,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast: Forecast;
}) {
	const known = useCollection("segments");
	const segments = known.data?.data ?? [];
	const disabledReason = useDisabledReason("POST /segments");
	const options = segments.map((segment) => ({
		id: segment.segment_key,
		label: segment.name,
		detail:
			segment.member_count === null
				? undefined
				: isOld(segment.member_count_evaluated_at)
					? words.withAge({ count: segment.member_count, when: ago(segment.member_count_evaluated_at ?? "") })
					: exactNumber(segment.member_count),
	}));
	const selected = segments.filter((segment) => broadcast.include_segment_keys.includes(segment.segment_key));
	const answer = broadcast.include_segment_keys.length > 0 ? forecast.data : undefined;
	const link = (reason: string | null) => draft.saved && peopleOf(draft.saved, segments, reason);
	return (
		<>
			<div data-whole aria-busy={known.isPending || undefined} className={css.section}>
				<Picks
					label={words.include}
					help={words.includeHelp}
					path="include_segment_keys"
					options={options}
					values={broadcast.include_segment_keys}
					error={draft.problem("include_segment_keys")}
					onChange={(include_segment_keys) => draft.change({ include_segment_keys })}
				/>
				<Picks
					label={words.exclude}
					path="exclude_segment_keys"
					options={options}
					values={broadcast.exclude_segment_keys}
					onChange={(exclude_segment_keys) => draft.change({ exclude_segment_keys })}
				/>
			</div>
			<div className={css.sum} role="status" aria-busy={forecast.isLoading || undefined}>
				{broadcast.include_segment_keys.length === 0 ? (
					words.nobody
				) : forecast.isError ? (
					explain(forecast.error)
				) : !answer ? (
					words.asking
				) : (
					<>
						{Object.keys(answer.excluded).length > 0 && (
							<>
								<People to={link(null)}>{words.matched({ count: answer.matched })}</People>
								{Object.entries(answer.excluded).map(([reason, count]) => (
									<span key={reason}>
										{" − "}
										<People to={link(reason)}>
											{exactNumber(count)} {reasonName(reason)}
										</People>
									</span>
								))}
								{" = "}
							</>
						)}
						<b>{words.recipients({ count: answer.recipients })}</b>
						<small className={css.muted}>
							{" "}
							{words.asked({ estimated: answer.estimated, at: answer.evaluated_at })}
						</small>
						{Object.keys(answer.excluded).length > 1 && <small className={css.muted}> {words.once}</small>}
					</>
				)}
			</div>
			{selected.some((segment) => segment.member_count !== null) && (
				<ul className={css.counts}>
					{selected.map((segment) => (
						<li key={segment.segment_key}>
							<Link href={to.segment(segment.segment_key)}>{segment.name}</Link>{" "}
							{segment.member_count !== null && (
								<span className={css.muted}>
									{words.counted({ count: segment.member_count })}
									{isOld(segment.member_count_evaluated_at) && (
										<>
											{" "}
											· {words.ages} <Time at={segment.member_count_evaluated_at} />
										</>
									)}
								</span>
							)}
						</li>
					))}
				</ul>
			)}
			{draft.status.kind === "offline" && <Callout tone="warning">{explain(draft.status.error)}</Callout>}
			<div>
				<LinkButton small to={to.newSegment()} disabledReason={disabledReason}>
					{words.make}
				</LinkButton>
			</div>
		</>
	);
}

function People({ to, children }: { to: string | null | undefined; children: React.ReactNode }) {
	return to ? <Link href={to}>{children}</Link> : children;
}
