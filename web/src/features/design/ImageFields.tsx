import { type RefObject, useState } from "react";
import { Button } from "../../ui/Button";
import { Checkbox, TextField } from "../../ui/Field";
import { Thumb } from "../../ui/Thumb";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { ImageField } from "../assets/ImageField";
import { imagePage } from "../assets/imagePage";
import { attributeName } from "./attributeNames";
import { mailWidth, setImage } from "./images";
import css from "./Images.module.css";
import { type Apply, Kept } from "./Kept";
import { setAttribute } from "./model/acts";
import { attributeValue } from "./model/labels";
import type { ElementNode, Tree } from "./model/tree";
import { changed } from "./refusals";
import { nodeNow } from "./targets";

const words = catalogue("design.imageFields", {
	current: "Current image of {name}",
	none: "No image yet",
	address: "Use an address",
	addressOf: "Address of {name}",
	addressHelp: "The address of an image on the web, or Liquid.",
	decorative: "Decorative image",
	decorativeHelp: "It says nothing that a reader would miss.",
	missing: "Describe what the image shows. Many mail programs show this text before they load images.",
});

type Props = { tree: Tree; element: ElementNode; name: string; readOnly: boolean; apply: Apply };

/** Newest is a design as it is when it is asked for: an upload takes a while. */
export type Newest = RefObject<{ tree: Tree; apply: Apply }>;

/** isStored reports whether an address is that of an image of the account. */
const isStored = (address: string) => /^https?:\/\/[^/]+(?:\/[^?#]*)?\/_q\/a\//.test(address);

/** ImageAttribute chooses the image that an attribute is the address of. */
export function ImageAttribute({ tree, element, name, readOnly, apply, newest }: Props & { newest: Newest }) {
	const [typed, setTyped] = useState(false);
	const label = attributeName(element.tag, name);
	const value = attributeValue(tree, element, name) ?? "";
	const byHand = typed || (value !== "" && !isStored(value));
	const page = imagePage(value);
	return (
		<fieldset className={css.attribute}>
			<legend className={css.label}>{label}</legend>
			<ImageField
				className={css.current}
				readOnly={readOnly}
				mailWidth={mailWidth(tree)}
				onChange={(_, asset) => {
					setTyped(false);
					const now = newest.current;
					const node = nodeNow(now.tree, tree.text, element.from);
					if (node?.kind !== "element" || node.tag !== element.tag) return toast(changed());
					now.apply(setImage(now.tree, node, name, asset));
				}}
				tools={
					!byHand && (
						<Button small variant="quiet" onClick={() => setTyped(true)}>
							{words.address}
						</Button>
					)
				}
			>
				{value === "" && <p className={css.hint}>{words.none}</p>}
				{page && <Thumb html={page} label={words.current({ name: label })} width={96} height={72} layout={288} />}
			</ImageField>
			{byHand && (
				<Kept value={value} write={(next) => apply(setAttribute(tree, element, name, next === "" ? null : next), true)}>
					{(field) => (
						<TextField
							{...field}
							label={words.addressOf({ name: label })}
							hideLabel
							help={words.addressHelp}
							path={name}
							placeholder="https://"
							autoComplete="off"
							autoFocus={typed}
							spellCheck={false}
							inputMode="url"
						/>
					)}
				</Kept>
			)}
		</fieldset>
	);
}

/** AltAttribute asks for the alternative text of an image, or whether it needs none. */
export function AltAttribute({ tree, element, name, apply }: Omit<Props, "readOnly">) {
	const value = attributeValue(tree, element, name);
	const write = (next: string | null) => setAttribute(tree, element, name, next);
	return (
		<>
			<Kept value={value ?? ""} write={(next) => apply(write(next === "" ? null : next), true)}>
				{(field) => (
					<TextField
						{...field}
						label={attributeName(element.tag, name)}
						help={value === undefined ? words.missing : undefined}
						path={name}
						autoComplete="off"
						spellCheck
					/>
				)}
			</Kept>
			<Checkbox
				label={words.decorative}
				help={words.decorativeHelp}
				checked={value === ""}
				onChange={(decorative) => apply(write(decorative ? "" : null))}
			/>
		</>
	);
}
