import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { TemplateStarter } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { Thumb } from "../../ui/Thumb";
import { thumbnailQuery } from "../binding/queries";

const words = catalogue("templates.starterPicture", { picture: "Picture of {name}" });

/** StarterPicture shows the mail that a starter makes, once it is in view. */
export function StarterPicture({ starter }: { starter: TemplateStarter }) {
	const [inView, setInView] = useState(false);
	const html = useQuery({ ...thumbnailQuery("starter", starter.slug, starter.content_mjml), enabled: inView });
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
