import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { PreviewTemplate, TemplateStarter } from "../../api/schema";
import { answer } from "../../base/queries";
import { catalogue } from "../../base/words/catalogue";
import { Thumb } from "../../ui/Thumb";
import { bindingOf, templateOf } from "./fromStarter";
import { turns } from "./turns";

const words = catalogue("templates.starterPicture", { picture: "Picture of {name}" });

/** The server has few places for previews, and the editor of another tab needs one. */
const inTurn = turns(2);

/** starterPictureQuery renders a starter, which is in the brand of the account, with its sample texts. */
const starterPictureQuery = (starter: TemplateStarter) =>
	queryOptions({
		...answer("template_starters.picture", starter.slug, starter.content_mjml),
		retry: false,
		queryFn: async ({ signal }) => {
			const { slug: _, ...template } = templateOf(starter);
			const source = { template: { ...(template as PreviewTemplate), binding: bindingOf(starter) } };
			return (await inTurn(() => api("POST /preview", { body: { source }, signal }), signal)).html;
		},
	});

/** StarterPicture shows the mail that a starter makes, once it is in view. */
export function StarterPicture({ starter }: { starter: TemplateStarter }) {
	const [inView, setInView] = useState(false);
	const html = useQuery({ ...starterPictureQuery(starter), enabled: inView });
	return (
		<Thumb
			html={html.data}
			label={words.picture({ name: starter.name })}
			width={pictureWidth}
			height={pictureHeight}
			onView={() => setInView(true)}
		/>
	);
}

/** The size of the pictures by which mails are chosen, in pixels. */
export const pictureWidth = 180;
export const pictureHeight = 220;
