import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Image, X } from "lucide-react";
import { Suspense, useState } from "react";
import { api, request } from "../../api/client";
import type { BrandView } from "../../api/schema";
import { answer } from "../../base/queries";
import { lazyComponent } from "../../base/lazy";
import { to } from "../../base/paths";
import { useDisabledReason, useWorkspace } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { Button } from "../../ui/Button";
import { Columns, NumberField, Select, TextArea } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { Callout, Card, Page } from "../../ui/Page";
import { SandboxedFrame } from "../../ui/SandboxedFrame";
import { Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { RestoredCallout, useDraftForm } from "../../ui/draftForm";
import { useDebounced } from "../../ui/useDebounced";
import { assetsQuery } from "../assets/queries";
import { brandQuery, footerOf, headOf, type Look, printed } from "./brandCode";
import { ColorField } from "./ColorField";
import css from "./Brand.module.css";
import { accountQuery } from "./queries";

const AssetPicker = lazyComponent(() => import("../assets/AssetPicker"));

const words = catalogue("settings.brand", {
	title: "Brand",
	settings: "Settings",
	about:
		"New emails and starter templates begin with these. A change here does not alter emails that you have already written, except where their code prints the brand, such as its logo or footer.",
	colors: "Colours",
	primary: "Main colour",
	primaryHelp: "Of links, and of buttons unless they have their own.",
	secondary: "Second colour",
	secondaryHelp: "The main colour if empty.",
	text: "Text",
	background: "Behind the email",
	surface: "Behind the content",
	fonts: "Fonts",
	heading: "Headings",
	body: "Body text",
	own: "Other: {list}",
	buttons: "Buttons",
	buttonColor: "Colour",
	buttonColorHelp: "The main colour if empty.",
	buttonText: "Text on it",
	radius: "Rounded corners, in pixels",
	frame: "Logo and width",
	logo: "Logo",
	noLogo: "No image. The logo of the workspace is used, if it has one.",
	choose: "Choose an image",
	remove: "Remove logo",
	width: "Width of emails, in pixels",
	footer: "Footer",
	footerText: "Text",
	footerHelp: "Emails show it where their code has {code}. It may contain merge fields.",
	preview: "Preview",
	mail: "A small email in this brand",
	noPreview: "The preview shows again once all values are valid.",
	save: "Save",
	saved: "Saved",
	sample: {
		heading: "A heading",
		text: "This is how a paragraph of yours looks, with <a href='#'>a link</a> in it.",
		button: "A button",
	},
});

/** The lists of fonts to choose from, by the name of their first. */
const stacks = [
	"Helvetica Neue, Helvetica, Arial, sans-serif",
	"Arial, Helvetica, sans-serif",
	"Verdana, Geneva, sans-serif",
	"Tahoma, Verdana, sans-serif",
	"Trebuchet MS, Tahoma, sans-serif",
	"Georgia, Times New Roman, serif",
	"Times New Roman, Times, serif",
	"Palatino Linotype, Palatino, Book Antiqua, serif",
	"Courier New, Courier, monospace",
];

type Values = {
	"colors.primary": string;
	"colors.secondary": string;
	"colors.text": string;
	"colors.background": string;
	"colors.surface": string;
	"fonts.heading": string;
	"fonts.body": string;
	"button.color": string;
	"button.text_color": string;
	"button.radius": number;
	logo_asset_id: string;
	width: number;
	footer: string;
};

const valuesOf = (brand: BrandView): Values => ({
	"colors.primary": brand.colors.primary,
	"colors.secondary": brand.colors.secondary ?? "",
	"colors.text": brand.colors.text,
	"colors.background": brand.colors.background,
	"colors.surface": brand.colors.surface,
	"fonts.heading": brand.fonts.heading,
	"fonts.body": brand.fonts.body,
	"button.color": brand.button.color ?? "",
	"button.text_color": brand.button.text_color,
	"button.radius": brand.button.radius,
	logo_asset_id: brand.logo_asset_id ?? "",
	width: brand.width,
	footer: brand.footer,
});

const brandOf = (values: Values) => ({
	colors: {
		primary: values["colors.primary"],
		secondary: values["colors.secondary"] || null,
		text: values["colors.text"],
		background: values["colors.background"],
		surface: values["colors.surface"],
	},
	fonts: { heading: values["fonts.heading"], body: values["fonts.body"] },
	button: {
		color: values["button.color"] || null,
		text_color: values["button.text_color"],
		radius: values["button.radius"],
	},
	logo_asset_id: values.logo_asset_id || null,
	width: values.width,
	footer: values.footer,
});

const isColor = (text: string) => /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text);

/** sampleOf returns a small mail that looks like a brand, nothing if a value has no place in its code. */
function sampleOf(look: Look): string {
	const { colors, button } = look;
	const all = [colors.primary, colors.text, colors.background, colors.surface, button.text_color];
	const given = [...all, ...[colors.secondary, button.color].filter((color) => color !== null)];
	if (!given.every(isColor) || !(button.radius >= 0 && look.width >= 320)) return "";
	const image = look.logo_url && `<mj-image src="${look.logo_url}" alt="" width="160px" align="left" />`;
	return `<mjml>
${headOf(look)}<mj-body background-color="${colors.background}" width="${look.width}px">
<mj-section padding="32px 24px"><mj-column>
${image || `<mj-text font-weight="bold">{{ account.name }}</mj-text>`}
<mj-text mj-class="heading">${words.sample.heading}</mj-text>
<mj-text>${words.sample.text}</mj-text>
<mj-button align="left" href="https://example.com/">${words.sample.button}</mj-button>
</mj-column></mj-section>
${footerOf(look, printed(look.footer))}</mj-body></mjml>`;
}

/** Brand has how the mails of the account look. */
export default function Brand() {
	const brand = useQuery(brandQuery());
	const disabledReason = useDisabledReason("PUT /settings/brand");
	return (
		<Page title={words.title} breadcrumbs={[{ name: words.settings, to: to.settings() }]} description={words.about}>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			{brand.isPending ? (
				<Skeleton rows={10} />
			) : brand.isError ? (
				<Failure error={brand.error} retry={() => void brand.refetch()} />
			) : (
				<Form saved={brand.data} disabledReason={disabledReason} />
			)}
		</Page>
	);
}

function Form({ saved, disabledReason }: { saved: BrandView; disabledReason?: string }) {
	const client = useQueryClient();
	const workspace = useWorkspace();
	const [picking, setPicking] = useState(false);
	const [picked, setPicked] = useState<{ id: string; url: string } | null>(null);
	const form = useDraftForm(valuesOf(saved), {
		kind: "brand",
		id: workspace?.tenant_id,
		title: words.title,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /settings/brand", {});
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: {
			"colors.primary": words.primary,
			"colors.secondary": words.secondary,
			"colors.text": words.text,
			"colors.background": words.background,
			"colors.surface": words.surface,
			"fonts.heading": words.heading,
			"fonts.body": words.body,
			"button.color": words.buttonColor,
			"button.text_color": words.buttonText,
			"button.radius": words.radius,
			logo_asset_id: words.logo,
			width: words.width,
			footer: words.footer,
		},
	});
	const { values } = form;
	const send = () =>
		form.submit(async (values, revision) => {
			client.setQueryData(brandQuery().queryKey, await api("PUT /settings/brand", { body: brandOf(values), revision }));
			toast(words.saved);
		});
	// The images tell the address of a logo that was picked before the page was loaded again, and the account its own logo.
	const known = new Map([
		[saved.logo_asset_id, saved.logo_url],
		[picked?.id, picked?.url],
	]);
	const images = useQuery({
		...assetsQuery(""),
		enabled: values.logo_asset_id !== "" && !known.has(values.logo_asset_id),
	});
	const account = useQuery({ ...accountQuery(), enabled: values.logo_asset_id === "" });
	const logo = values.logo_asset_id
		? (known.get(values.logo_asset_id) ?? images.data?.data.find(({ id }) => id === values.logo_asset_id)?.url ?? null)
		: null;
	const shownLogo = logo ?? (values.logo_asset_id === "" && account.data?.logo_url ? "{{ account.logo_url }}" : null);
	const readOnly = disabledReason !== undefined;
	const color = (path: keyof Values & `${string}.${string}`, label: string, help?: string, optional?: boolean) => (
		<ColorField
			label={label}
			help={help}
			optional={optional}
			path={path}
			value={String(values[path])}
			readOnly={readOnly}
			error={form.problems.byPath[path]}
			onChange={(value) => form.set({ [path]: value })}
		/>
	);
	const number = (path: "button.radius" | "width", label: string, min: number, max: number) => (
		<NumberField
			label={label}
			path={path}
			min={min}
			max={max}
			value={values[path]}
			readOnly={readOnly}
			error={form.problems.byPath[path]}
			onChange={(value) => form.set({ [path]: value })}
		/>
	);
	const font = (path: "fonts.heading" | "fonts.body", label: string) => (
		<Select
			label={label}
			path={path}
			value={values[path]}
			disabled={readOnly}
			error={form.problems.byPath[path]}
			onChange={(value) => form.set({ [path]: value })}
			choices={[
				...stacks.map((list) => ({ value: list, label: list.split(",")[0] as string })),
				...(stacks.includes(values[path]) ? [] : [{ value: values[path], label: words.own({ list: values[path] }) }]),
			]}
		/>
	);
	return (
		<div className={css.sides}>
			<form
				noValidate
				className={css.form}
				onSubmit={(event) => {
					event.preventDefault();
					if (!disabledReason) void send();
				}}
			>
				<RestoredCallout form={form} />
				<Card title={words.colors}>
					<Columns>
						{color("colors.primary", words.primary, words.primaryHelp)}
						{color("colors.secondary", words.secondary, words.secondaryHelp, true)}
						{color("colors.text", words.text)}
						{color("colors.background", words.background)}
						{color("colors.surface", words.surface)}
					</Columns>
				</Card>
				<Card title={words.fonts}>
					<Columns>
						{font("fonts.heading", words.heading)}
						{font("fonts.body", words.body)}
					</Columns>
				</Card>
				<Card title={words.buttons}>
					<Columns>
						{color("button.color", words.buttonColor, words.buttonColorHelp, true)}
						{color("button.text_color", words.buttonText)}
						{number("button.radius", words.radius, 0, 50)}
					</Columns>
				</Card>
				<Card title={words.frame}>
					{logo ? (
						<img className={css.logo} src={new URL(logo).pathname} alt={words.logo} />
					) : (
						values.logo_asset_id === "" && <p className={css.muted}>{words.noLogo}</p>
					)}
					{form.problems.byPath.logo_asset_id && <Callout tone="danger">{form.problems.byPath.logo_asset_id}</Callout>}
					<div className={css.tools}>
						<Button small icon={<Image aria-hidden />} disabledReason={disabledReason} onClick={() => setPicking(true)}>
							{words.choose}
						</Button>
						{values.logo_asset_id && (
							<Button
								small
								variant="quiet"
								icon={<X aria-hidden />}
								disabledReason={disabledReason}
								onClick={() => form.set({ logo_asset_id: "" })}
							>
								{words.remove}
							</Button>
						)}
					</div>
					{number("width", words.width, 320, 1000)}
				</Card>
				<Card title={words.footer}>
					<TextArea
						label={words.footerText}
						help={words.footerHelp({ code: "{{ brand.footer }}" })}
						path="footer"
						rows={4}
						value={values.footer}
						readOnly={readOnly}
						error={form.problems.byPath.footer}
						onChange={(footer) => form.set({ footer })}
					/>
				</Card>
				<FormProblems problems={form.problems} />
				{form.question}
				<div>
					<Button type="submit" variant="primary" busy={form.busy} disabledReason={disabledReason}>
						{words.save}
					</Button>
				</div>
			</form>
			<Card title={words.preview}>
				<Sample look={{ ...brandOf(values), logo_url: shownLogo }} />
			</Card>
			{picking && (
				<Suspense fallback={null}>
					<AssetPicker
						onClose={() => setPicking(false)}
						onPick={(asset) => {
							setPicking(false);
							setPicked({ id: asset.id, url: asset.url });
							form.set({ logo_asset_id: asset.id });
						}}
					/>
				</Suspense>
			)}
		</div>
	);
}

/** Sample shows a small mail, as it is typed. */
function Sample({ look }: { look: Look }) {
	const code = useDebounced(sampleOf(look), 400);
	const preview = useQuery({
		...answer("brand.preview", code),
		enabled: code !== "",
		retry: false,
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) =>
			api("POST /preview", {
				body: { source: { content: { subject: words.title, body_mjml: code } } },
				signal,
			}),
	});
	const html = code === "" ? null : preview.data?.html;
	if (preview.isError && code !== "") return <p role="status">{explain(preview.error)}</p>;
	if (preview.isPending && code !== "") return <Skeleton rows={6} />;
	return html ? (
		<SandboxedFrame title={words.mail} html={html} dark={false} className={css.mail} />
	) : (
		<p role="status">{words.noPreview}</p>
	);
}
