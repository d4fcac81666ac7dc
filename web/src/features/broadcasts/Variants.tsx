import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { BroadcastSessionView, BroadcastVariant } from "../../api/schema";
import { useParam } from "../../base/params";
import { TokenField } from "../binding/Tokens";
import { MjmlField } from "../source/MjmlField";
import { useNames } from "../source/names";
import { newMjml } from "../templates/blankMjml";
import { Button } from "../../ui/Button";
import { Columns, TextArea, TextField } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { sentenceFor } from "../../base/words/errors";
import { percent } from "../../base/words/formats";
import css from "./Composer.module.css";
import type { Draft } from "./draft";
import type { Forecast } from "./forecast";
import type { MailAt } from "./Preview";

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
const long = (field: Field) => field.startsWith("body_");

/** The most variants a test has; the server refuses more. */
const letters = "ABCDEFGHIJ";

/** Variants compares versions of a mail: variants with what differs in each, and the share of people that gets it. */
export function Variants({
	draft,
	value: broadcast,
	forecast,
	mailAt,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast: Forecast;
	mailAt: MailAt;
}) {
	const names = useNames();
	const client = useQueryClient();
	const variants = broadcast.variants ?? [];
	const [, setVariant] = useParam("variant", "", { replace: true });
	const set = (variants: BroadcastVariant[] | null) => draft.change({ variants });
	const total = variants.reduce((sum, variant) => sum + variant.weight, 0);
	const newVariant = (used: BroadcastVariant[]): BroadcastVariant => {
		const letter = [...letters].find((letter) => !used.some((variant) => variant.id === letter.toLowerCase())) ?? "A";
		return {
			id: letter.toLowerCase(),
			name: letter,
			weight: 1,
			content_overrides: { subject: broadcast.content.subject ?? "" },
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
							const first = newVariant([]);
							set([first, newVariant([first])]);
						}}
					>
						{words.start}
					</Button>
				</div>
			</>
		);
	}
	const general = draft.problem("variants");
	const alike = broadcast.warnings.find((warning) => warning.code === "VARIANTS_ALIKE");
	const change = (i: number, part: Partial<BroadcastVariant>) =>
		set(variants.map((variant, j) => (i === j ? { ...variant, ...part } : variant)));
	return (
		<>
			<p>{words.about}</p>
			{general && !variants.some((_, i) => draft.problem(`variants[${i}]`)) && (
				<Callout tone="danger">{general}</Callout>
			)}
			{alike && <Callout tone="warning">{sentenceFor(alike.code, alike.message)}</Callout>}
			<div className={css.variants} data-path="variants">
				{variants.map((variant, i) => {
					const own = fields.filter((field) => field in variant.content_overrides);
					const expected = forecast.data?.variants.find((v) => v.id === variant.id)?.expected;
					const share = total > 0 ? percent(variant.weight / total) : "–";
					const path = `variants[${i}]`;
					const override = (field: Field, value: string) =>
						change(i, { content_overrides: { ...variant.content_overrides, [field]: value } });
					const removeOverride = (field: Field) =>
						change(i, {
							content_overrides: Object.fromEntries(
								Object.entries(variant.content_overrides).filter(([key]) => key !== field),
							),
						});
					return (
						<section
							key={variant.id}
							className={css.variant}
							aria-label={words.variant({ name: variant.name })}
							// The preview shows the version that is written.
							onFocusCapture={() => setVariant(variant.id)}
						>
							<Columns>
								<TextField
									label={words.name}
									value={variant.name}
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
									value={variant.weight ? String(variant.weight) : ""}
									error={draft.problem(`${path}.weight`)}
									onChange={(value) => change(i, { weight: Number(value) || 0 })}
								/>
							</Columns>
							{own.length === 0 && <p className={css.muted}>{words.none}</p>}
							{own.map((field) => {
								const fieldPath = `${path}.content_overrides.${field}`;
								return (
									<div key={field} className={css.override}>
										{field === "body_mjml" ? (
											<div className={css.codeField} data-path={fieldPath}>
												<h3>{words.fields[field]}</h3>
												<MjmlField
													{...mailAt(fieldPath)}
													begin={() => newMjml(client)}
													label={words.fields[field]}
													value={variant.content_overrides[field] ?? ""}
													names={names}
													onChange={(value) => override(field, value)}
												/>
												{draft.problem(fieldPath) && <p role="alert">{draft.problem(fieldPath)}</p>}
											</div>
										) : long(field) ? (
											<TextArea
												code
												rows={8}
												spellCheck={false}
												label={words.fields[field]}
												path={fieldPath}
												value={variant.content_overrides[field] ?? ""}
												error={draft.problem(fieldPath)}
												onChange={(value) => override(field, value)}
											/>
										) : (
											<TokenField
												label={words.fields[field]}
												path={fieldPath}
												value={variant.content_overrides[field] ?? ""}
												error={draft.problem(fieldPath)}
												onChange={(value) => override(field, value)}
											/>
										)}
										<Button
											small
											variant="quiet"
											aria-label={words.same({ field: words.fields[field] })}
											onClick={() => removeOverride(field)}
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
											(field) =>
												!own.includes(field) &&
												!(field === "body_html" && own.includes("body_mjml")) &&
												!(field === "body_mjml" && own.includes("body_html")),
										)
										.map((field) => ({
											id: field,
											label: words.fields[field],
											run: () => override(field, broadcast.content[field] ?? ""),
										}))}
								>
									{words.differ}
								</Menu>
								<Button
									small
									variant="quiet"
									aria-label={words.removeOf({ name: variant.name })}
									disabledReason={variants.length <= 2 ? words.last : undefined}
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
					<Button small icon={<Plus aria-hidden />} onClick={() => set([...variants, newVariant(variants)])}>
						{words.add}
					</Button>
				)}
				<Button small variant="quiet" onClick={() => set(null)}>
					{words.stop}
				</Button>
			</div>
		</>
	);
}
