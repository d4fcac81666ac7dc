import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import type { AnyTemplateRow, TemplateStarter } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { Skeleton } from "../../ui/States";
import { Thumb } from "../../ui/Thumb";
import { thumbnailQuery } from "../binding/queries";
import { BrandHint } from "./BrandHint";
import { aboutOf } from "./fromStarter";
import { pictureHeight, pictureWidth, StarterPicture } from "./StarterPicture";
import css from "./Starters.module.css";

const words = catalogue("templates.mailChoice", {
	label: "Email",
	own: "Your template",
	picture: "Picture of {name}",
});

type Props = {
	templates: AnyTemplateRow[];
	starters: TemplateStarter[];
	/** The id of a mail, as idOf returns it. */
	value: string | null;
	onChange: (id: string) => void;
};

/** idOf is the id of a mail to begin with. */
export const idOf = (kind: "template" | "starter", slug: string) => `${kind} ${slug}`;

/** newStarters returns the starters of which the account has made no template yet. */
export const newStarters = (starters: TemplateStarter[], templates: Pick<AnyTemplateRow, "slug" | "name">[]) =>
	starters.filter((starter) => !templates.some(({ slug, name }) => slug === starter.slug && name === starter.name));

/** MailChoice chooses by their pictures what a mail begins with: one of the account's templates, or a starter. */
export function MailChoice({ templates, starters, value, onChange }: Props) {
	const name = useId();
	const choice = (id: string, title: string, text: string, picture: ReactNode) => (
		<li key={id}>
			<label className={css.choice}>
				<input type="radio" name={name} checked={id === value} onChange={() => onChange(id)} />
				{picture}
				<b>{title}</b>
				<span>{text}</span>
			</label>
		</li>
	);
	return (
		<fieldset className={css.choices}>
			<legend className="visually-hidden">{words.label}</legend>
			<ul className={css.pictures}>
				{templates.map((template) =>
					choice(idOf("template", template.slug), template.name, words.own, <TemplatePicture template={template} />),
				)}
				{starters.map((starter) =>
					choice(idOf("starter", starter.slug), starter.name, aboutOf(starter), <StarterPicture starter={starter} />),
				)}
				<li className={css.whole}>
					<BrandHint />
				</li>
			</ul>
		</fieldset>
	);
}

function TemplatePicture({ template }: { template: AnyTemplateRow }) {
	const [inView, setInView] = useState(false);
	const html = useQuery({ ...thumbnailQuery("template", template.slug, template.updated_at), enabled: inView });
	return (
		<Thumb
			html={html.data}
			label={words.picture({ name: template.name })}
			width={pictureWidth}
			height={pictureHeight}
			onView={() => setInView(true)}
		/>
	);
}

/** MailChoiceSkeleton keeps the place of a choice that is on its way. */
export const MailChoiceSkeleton = () => (
	<div className={css.pictures}>
		<Skeleton rows={1} height={300} />
		<Skeleton rows={1} height={300} />
		<Skeleton rows={1} height={300} />
	</div>
);
