import { Plus } from "lucide-react";
import type { BroadcastSessionView, BroadcastVariant } from "../../api/schema";
import { TokenField } from "../binding/Tokens";
import { Button } from "../../ui/Button";
import { Columns, TextArea, TextField } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { percent } from "../../base/words/formats";
import css from "./Composer.module.css";
import type { Draft } from "./draft";
import type { Forecast } from "./forecast";

const words = catalogue("broadcasts.variants", {
	about:
		"Every recipient gets one of the versions, always the same one. A version contains only what differs from the content above.",
	start: "Compare versions",
	stop: "Send one version to everybody",
	variant: "Version {name}",
	name: "Name",
	weight: "Weight",
	expected: "{count, plural, one {# person expected, {share} by weight} other {# people expected, {share} by weight}}",
	byWeight: "{share} by weight",
	add: "Add version",
	remove: "Remove this version",
	removeOf: "Remove version {name}",
	differ: "Change another field in this version",
	same: "Same as above: remove this version's {field}",
	drop: "Same as above",
	none: "Nothing differs yet. Change at least one field.",
	last: "A comparison needs two versions. To stop comparing, send one version to everybody.",
	fields: {
		subject: "Subject",
		preheader: "Preview text",
		from_name: "From name",
		reply_to: "Reply to",
		body_html: "HTML",
		body_mjml: "MJML",
		body_text: "Plain text",
	},
});

type Field = keyof typeof words.fields;
const fields = Object.keys(words.fields) as Field[];
const long = (f: Field) => f.startsWith("body_");

/** The most variants a test has; the server refuses more. */
const letters = "ABCDEFGHIJ";

/** Variants compares versions of a mail: variants with what differs in each, and the share of people that gets it. */
export function Variants({
	draft,
	value: b,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast: Forecast;
}) {
	const variants = b.variants ?? [];
	const set = (variants: BroadcastVariant[] | null) => draft.change({ variants });
	const total = variants.reduce((sum, a) => sum + a.weight, 0);
	const fresh = (used: BroadcastVariant[]): BroadcastVariant => {
		const letter = [...letters].find((l) => !used.some((a) => a.id === l.toLowerCase())) ?? "A";
		return {
			id: letter.toLowerCase(),
			name: letter,
			weight: 1,
			content_overrides: { subject: b.content.subject ?? "" },
		};
	};
	if (variants.length === 0) {
		return (
			<>
				<p>{words.about}</p>
				<div>
					<Button
						icon={<Plus aria-hidden />}
						onClick={() => {
							const first = fresh([]);
							set([first, fresh([first])]);
						}}
					>
						{words.start}
					</Button>
				</div>
			</>
		);
	}
	const general = draft.problem("variants");
	const change = (i: number, part: Partial<BroadcastVariant>) =>
		set(variants.map((a, j) => (i === j ? { ...a, ...part } : a)));
	return (
		<>
			<p>{words.about}</p>
			{general && !variants.some((_, i) => draft.problem(`variants[${i}]`)) && (
				<Callout tone="danger">{general}</Callout>
			)}
			<div className={css.variants} data-path="variants">
				{variants.map((a, i) => {
					const own = fields.filter((f) => f in a.content_overrides);
					const expected = forecast.data?.variants.find((v) => v.id === a.id)?.expected;
					const share = total > 0 ? percent(a.weight / total) : "–";
					const path = `variants[${i}]`;
					const override = (f: Field, v: string) =>
						change(i, { content_overrides: { ...a.content_overrides, [f]: v } });
					const drop = (f: Field) =>
						change(i, {
							content_overrides: Object.fromEntries(Object.entries(a.content_overrides).filter(([k]) => k !== f)),
						});
					return (
						<section key={a.id} className={css.variant} aria-label={words.variant({ name: a.name })}>
							<Columns>
								<TextField
									label={words.name}
									value={a.name}
									path={`${path}.name`}
									error={draft.problem(`${path}.name`)}
									onChange={(name) => change(i, { name })}
									maxLength={100}
								/>
								<TextField
									label={words.weight}
									type="number"
									min={0}
									step="any"
									help={expected === undefined ? words.byWeight({ share }) : words.expected({ count: expected, share })}
									path={`${path}.weight`}
									value={a.weight ? String(a.weight) : ""}
									error={draft.problem(`${path}.weight`)}
									onChange={(w) => change(i, { weight: Number(w) || 0 })}
								/>
							</Columns>
							{own.length === 0 && <p className={css.muted}>{words.none}</p>}
							{own.map((f) => {
								const at = `${path}.content_overrides.${f}`;
								return (
									<div key={f} className={css.override}>
										{long(f) ? (
											<TextArea
												code
												rows={8}
												spellCheck={false}
												label={words.fields[f]}
												path={at}
												value={a.content_overrides[f] ?? ""}
												error={draft.problem(at)}
												onChange={(v) => override(f, v)}
											/>
										) : (
											<TokenField
												label={words.fields[f]}
												path={at}
												value={a.content_overrides[f] ?? ""}
												error={draft.problem(at)}
												onChange={(v) => override(f, v)}
											/>
										)}
										<Button
											small
											look="quiet"
											aria-label={words.same({ field: words.fields[f] })}
											onClick={() => drop(f)}
										>
											{words.drop}
										</Button>
									</div>
								);
							})}
							<div className={css.actions}>
								<Menu
									small
									start
									actions={fields
										.filter(
											(f) =>
												!own.includes(f) &&
												!(f === "body_html" && own.includes("body_mjml")) &&
												!(f === "body_mjml" && own.includes("body_html")),
										)
										.map((f) => ({ id: f, label: words.fields[f], run: () => override(f, b.content[f] ?? "") }))}
								>
									{words.differ}
								</Menu>
								<Button
									small
									look="quiet"
									aria-label={words.removeOf({ name: a.name })}
									why={variants.length <= 2 ? words.last : undefined}
									onClick={() => set(variants.filter((_, j) => i !== j))}
								>
									{words.remove}
								</Button>
							</div>
						</section>
					);
				})}
			</div>
			<div className={css.actions}>
				{variants.length < letters.length && (
					<Button small icon={<Plus aria-hidden />} onClick={() => set([...variants, fresh(variants)])}>
						{words.add}
					</Button>
				)}
				<Button small look="quiet" onClick={() => set(null)}>
					{words.stop}
				</Button>
			</div>
		</>
	);
}
