import type { ReactNode } from "react";
import { Link } from "wouter";
import { catalogue } from "../base/words/catalogue";
import { full, percent } from "../base/words/formats";
import css from "./Figure.module.css";
import { Popup } from "./Popup";

const words = catalogue("shell.figure", {
	about: "What “{name}” means",
	asOf: "As of {at, time}.",
	people: "Show people",
	report: "Open report",
});

export type About = {
	definition: string;
	/** The sum with real values, such as "2,060 verified openers ÷ 5,000 recipients". */
	sum?: string;
	asOf?: string | null;
	/** Where the people behind it are. */
	people?: string | null;
	/** Where a report of it is. */
	report?: string;
};

/** Explained is a word that opens its definition. */
export function Explained({ name, about }: { name: string; about: About }) {
	return (
		<Popup label={words.about({ name })} button={name} className={css.name}>
			{() => (
				<div className={css.about}>
					<p>
						<b>{name}</b>
					</p>
					<p>{about.definition}</p>
					{about.sum && <p className={css.sum}>{about.sum}</p>}
					{about.asOf && <p>{words.asOf({ at: about.asOf })}</p>}
					{about.report && (
						<p>
							<Link href={about.report}>{words.report}</Link>
						</p>
					)}
					{about.people && (
						<p>
							<Link href={about.people}>{words.people}</Link>
						</p>
					)}
				</div>
			)}
		</Popup>
	);
}

/** Heading is the name of a column of figures. With a definition, it opens that. */
export function Heading({ name, about }: { name: string; about?: string }) {
	return about ? <Explained name={name} about={{ definition: about }} /> : name;
}

/** Figure is a number with its name. With `about`, the name opens its definition. */
export function Figure({
	name,
	value,
	detail,
	tone,
	about,
}: {
	name: ReactNode;
	value: ReactNode;
	detail?: ReactNode;
	tone?: "danger" | "warning";
	about?: About;
}) {
	return (
		<div className={css.figure} data-tone={tone}>
			<dt>{about && typeof name === "string" ? <Explained name={name} about={about} /> : name}</dt>
			<dd>
				{value}
				{detail && <small>{detail}</small>}
			</dd>
		</div>
	);
}

type RateProps = {
	name: ReactNode;
	part: number;
	total: number;
	of: string;
	decimals?: number;
	tone?: "danger" | "warning";
	about?: About;
	more?: ReactNode;
};

/** Rate is a share of a whole, with both beside it. Of fewer than a hundred, the count comes first. */
export function Rate({ name, part, total, of, decimals, tone, about, more }: RateProps) {
	const share = percent(total > 0 ? part / total : null, decimals);
	const counts = `${full(part)} ${of} ${full(total)}`;
	const few = total > 0 && total < 100;
	return (
		<Figure
			name={name}
			value={few ? counts : share}
			detail={
				<>
					{few ? share : counts}
					{more}
				</>
			}
			tone={tone}
			about={about}
		/>
	);
}

/** Figures stand beside each other. */
export function Figures({ children }: { children: ReactNode }) {
	return (
		<div className={css.box}>
			<dl className={css.figures}>{children}</dl>
		</div>
	);
}
