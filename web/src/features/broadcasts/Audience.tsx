import { Link } from "wouter";
import type { BroadcastSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useWhyNot } from "../../base/session";
import { LinkButton } from "../../ui/Button";
import { Picks } from "../../ui/Combo";
import { Callout } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { full } from "../../base/words/formats";
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
	matched: "Matched",
	recipients: "{count, plural, one {# recipient} other {# recipients}}",
	asked: "as of {at, time}; checked again when it starts",
	asking: "Counting recipients",
	nobody: "Choose at least one segment or list.",
	estimated: "estimated",
	once: "Each person is counted under the first reason that applies.",
	ages: "Counted",
});

/** useSegments reads the segments and lists of the workspace. */
export function useSegments(enabled = true) {
	return useCollection("segments", { enabled }).data?.data ?? [];
}

/** Audience chooses who gets the broadcast, and says how many they are. */
export function Audience({
	draft,
	value: b,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast: Forecast;
}) {
	const known = useCollection("segments");
	const segments = known.data?.data ?? [];
	const whyNot = useWhyNot("POST /segments");
	const options = segments.map((s) => ({
		id: s.segment_key,
		label: s.name,
		detail: s.member_count === null ? undefined : full(s.member_count),
	}));
	const chosen = segments.filter((s) => b.include_segment_keys.includes(s.segment_key));
	const p = b.include_segment_keys.length > 0 ? forecast.data : undefined;
	const link = (reason: string | null) => draft.saved && peopleOf(draft.saved, segments, reason);
	return (
		<>
			<div data-whole aria-busy={known.isPending || undefined} className={css.section}>
				<Picks
					label={words.include}
					help={words.includeHelp}
					path="include_segment_keys"
					options={options}
					values={b.include_segment_keys}
					error={draft.problem("include_segment_keys")}
					onChange={(include_segment_keys) => draft.change({ include_segment_keys })}
				/>
				<Picks
					label={words.exclude}
					path="exclude_segment_keys"
					options={options}
					values={b.exclude_segment_keys}
					onChange={(exclude_segment_keys) => draft.change({ exclude_segment_keys })}
				/>
			</div>
			<div className={css.sum} role="status" aria-busy={forecast.isLoading || undefined}>
				{b.include_segment_keys.length === 0 ? (
					words.nobody
				) : forecast.isError ? (
					explain(forecast.error)
				) : !p ? (
					words.asking
				) : (
					<>
						<People to={link(null)}>
							{words.matched} {full(p.matched)}
						</People>
						{Object.entries(p.excluded).map(([reason, n]) => (
							<span key={reason}>
								{" − "}
								<People to={link(reason)}>
									{full(n)} {reasonName(reason)}
								</People>
							</span>
						))}
						{" = "}
						<b>{words.recipients({ count: p.recipients })}</b>
						{p.estimated && ` (${words.estimated})`}, {words.asked({ at: p.evaluated_at })}.
						{Object.keys(p.excluded).length > 1 && <small className={css.muted}> {words.once}</small>}
					</>
				)}
			</div>
			{chosen.some((s) => s.member_count !== null) && (
				<ul className={css.counts}>
					{chosen.map((s) => (
						<li key={s.segment_key}>
							<Link href={to.segment(s.segment_key)}>{s.name}</Link>{" "}
							{s.member_count !== null && (
								<span className={css.muted}>
									{words.counted({ count: s.member_count })} · {words.ages} <Time at={s.member_count_evaluated_at} />
								</span>
							)}
						</li>
					))}
				</ul>
			)}
			{draft.status.is === "offline" && <Callout tone="warning">{explain(draft.status.error)}</Callout>}
			<div>
				<LinkButton small to={to.newSegment()} why={whyNot}>
					{words.make}
				</LinkButton>
			</div>
		</>
	);
}

function People({ to, children }: { to: string | null | undefined; children: React.ReactNode }) {
	return to ? <Link href={to}>{children}</Link> : children;
}
