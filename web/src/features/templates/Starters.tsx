import type { ReactNode } from "react";
import type { TemplateStarter } from "../../api/schema";
import { Callout } from "../../ui/Page";
import { BrandHint } from "./BrandHint";
import { StarterPicture } from "./StarterPicture";
import css from "./Starters.module.css";
import { aboutOf, useStarters } from "./fromStarter";

type Props = {
	busy: boolean;
	disabledReason?: string;
	onChoose: (starter: TemplateStarter) => void;
	/** What else can be begun with, last. */
	own?: { name: string; text: string; onChoose: () => void };
};

/** Starters are what a template, or a mail, can begin with. */
export function Starters({ busy, disabledReason, onChoose, own }: Props) {
	const starters = useStarters();
	const off = disabledReason !== undefined || busy;
	const starterCard = (id: string, name: string, text: ReactNode, choose: () => void, picture: ReactNode) => (
		<li key={id}>
			<button type="button" aria-disabled={off || undefined} title={disabledReason} onClick={() => !off && choose()}>
				{picture}
				<b>{name}</b>
				<span>{text}</span>
			</button>
		</li>
	);
	return (
		<>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			<ul className={css.starters} aria-busy={busy}>
				{starters.data?.data.map((starter) =>
					starterCard(
						starter.slug,
						starter.name,
						aboutOf(starter),
						() => onChoose(starter),
						<StarterPicture starter={starter} />,
					),
				)}
				{own &&
					!starters.isPending &&
					starterCard("", own.name, own.text, own.onChoose, <span className={css.blank} />)}
			</ul>
			{!starters.isPending && <BrandHint />}
		</>
	);
}
