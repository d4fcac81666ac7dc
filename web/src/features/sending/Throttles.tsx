import { Plus, Trash2 } from "lucide-react";
import type { MtaThrottle, MtaThrottleBody } from "../../api/schema";
import { Button, IconButton } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./Mta.module.css";

const words = catalogue("sending.throttles", {
	title: "Limits for providers and domains",
	pattern: "Provider or domain",
	patternHelp: "gmail, outlook, yahoo, icloud, aol, proton, or a domain.",
	perMinute: "Emails per minute",
	perHour: "Emails per hour",
	connections: "Connections",
	add: "Add provider limit",
	removeNamed: "Remove limit for {pattern}",
});

const bounds = {
	max_per_minute: "perMinute",
	max_per_hour: "perHour",
	max_connections: "connections",
} as const;

/** Throttle is the limit of a provider as the form has it: numbers are what was typed. */
export type Throttle = { pattern: string } & { [bound in keyof typeof bounds]: string };

const names = Object.keys(bounds) as (keyof typeof bounds)[];

export const throttleOf = (throttle: MtaThrottle): Throttle => ({
	pattern: throttle.pattern,
	max_per_minute: String(throttle.max_per_minute ?? ""),
	max_per_hour: String(throttle.max_per_hour ?? ""),
	max_connections: String(throttle.max_connections ?? ""),
});

export const bodyOfThrottle = (throttle: Throttle): MtaThrottleBody => ({
	pattern: throttle.pattern.trim(),
	...Object.fromEntries(names.map((name) => [name, throttle[name] === "" ? null : Number(throttle[name])])),
});

/** throttlesTitle names the list. */
export const throttlesTitle = () => words.title;

type Props = {
	list: Throttle[];
	problems: { [path: string]: string };
	disabledReason?: string;
	onChange: (list: Throttle[]) => void;
};

/** Throttles edits the limits of an MTA config for single providers and domains. */
export function Throttles({ list, problems, disabledReason, onChange }: Props) {
	const change = (i: number, part: Partial<Throttle>) =>
		onChange(list.map((throttle, j) => (j === i ? { ...throttle, ...part } : throttle)));
	return (
		<fieldset data-path="domain_throttles" tabIndex={-1} className={css.limits}>
			<legend>{words.title}</legend>
			{problems.domain_throttles && <p role="alert">{problems.domain_throttles}</p>}
			<ul className={css.throttles}>
				{list.map((throttle, i) => (
					<li key={i} className={css.throttle}>
						<TextField
							label={words.pattern}
							value={throttle.pattern}
							onChange={(pattern) => change(i, { pattern })}
							readOnly={disabledReason !== undefined}
							autoComplete="off"
							spellCheck={false}
						/>
						{names.map((name) => (
							<TextField
								key={name}
								label={words[bounds[name]]}
								type="number"
								value={throttle[name]}
								onChange={(value) => change(i, { [name]: value })}
								readOnly={disabledReason !== undefined}
								autoComplete="off"
							/>
						))}
						<IconButton
							label={words.removeNamed({ pattern: throttle.pattern })}
							icon={<Trash2 aria-hidden />}
							disabledReason={disabledReason}
							onClick={() => onChange(list.filter((_, j) => j !== i))}
						/>
					</li>
				))}
			</ul>
			<p className={css.muted}>{words.patternHelp}</p>
			<Button
				small
				icon={<Plus aria-hidden />}
				disabledReason={disabledReason}
				onClick={() => onChange([...list, { pattern: "", max_per_minute: "", max_per_hour: "", max_connections: "" }])}
			>
				{words.add}
			</Button>
		</fieldset>
	);
}
