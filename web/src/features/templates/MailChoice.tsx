import { type QueryClient, useQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import type { AnyTemplateRow } from "../../api/schema";
import { within } from "../../base/queries";
import { catalogue } from "../../base/words/catalogue";
import { Failure, Skeleton } from "../../ui/States";
import { Thumb } from "../../ui/Thumb";
import { thumbnailQuery } from "../binding/queries";
import { aboutOf, createFromStarter, useStarters } from "./fromStarter";
import { idOf, type Mails, newStarters, starterOf } from "./mails";
import { templateNamesQuery } from "./queries";
import { pictureHeight, pictureWidth, StarterPicture } from "./StarterPicture";
import css from "./Starters.module.css";

const words = catalogue("templates.mailChoice", {
	label: "Email",
	own: "Your template",
	picture: "Picture of {name}",
});

/** useMails reads the mails that one can begin with; without the starters, if only those cannot be read. */
export function useMails(enabled = true) {
	const templates = useQuery({ ...templateNamesQuery(), enabled });
	const starters = useStarters(enabled);
	const own = templates.data?.data;
	const mails: Mails | undefined =
		own && (starters.data || starters.isError) ? { templates: own, starters: starters.data?.data ?? [] } : undefined;
	const failed = [templates, starters].find(({ data, isError }) => isError && !data);
	return { mails, error: failed?.error, retry: () => void failed?.refetch() };
}

/** beginWith returns the content of a mail that begins with a chosen one. One that is a starter, or was, has the texts of its sample. */
export async function beginWith(client: QueryClient, mails: Mails, chosen: { slug: string; label: string }) {
	const starter = starterOf(mails, chosen);
	if (!starter) return { template_slug: chosen.slug, template_binding: {} };
	const content = await createFromStarter(starter);
	void client.invalidateQueries(within("templates"));
	return content;
}

type Props = {
	mails: ReturnType<typeof useMails>;
	/** The id of the mail, as idOf returns it, or that of what else can be begun with. */
	value: string | null;
	onChange: (id: string) => void;
	/** What else can be begun with, last. */
	own?: { id: string; name: string; text: string };
};

/** MailChoice chooses by their pictures what a mail begins with: one of the account's templates, or a starter. */
export function MailChoice({ mails: { mails, error, retry }, value, onChange, own }: Props) {
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
	if (!mails && !error) return <MailChoiceSkeleton />;
	return (
		<>
			{error && <Failure error={error} retry={retry} />}
			<fieldset className={css.choices}>
				<legend className="visually-hidden">{words.label}</legend>
				<ul className={css.pictures}>
					{mails?.templates.map((template) =>
						choice(idOf("template", template.slug), template.name, words.own, <TemplatePicture template={template} />),
					)}
					{mails &&
						newStarters(mails.starters, mails.templates).map((starter) =>
							choice(
								idOf("starter", starter.slug),
								starter.name,
								aboutOf(starter),
								<StarterPicture starter={starter} />,
							),
						)}
					{own && choice(own.id, own.name, own.text, <span className={css.blank} />)}
				</ul>
			</fieldset>
		</>
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
const MailChoiceSkeleton = () => (
	<div className={css.pictures}>
		<Skeleton rows={1} height={300} />
		<Skeleton rows={1} height={300} />
		<Skeleton rows={1} height={300} />
	</div>
);
