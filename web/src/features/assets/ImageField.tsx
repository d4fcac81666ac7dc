import { useQueryClient } from "@tanstack/react-query";
import { Image } from "lucide-react";
import { type ReactNode, Suspense, useState } from "react";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Assets.module.css";
import { hasFiles, imagesOf, upload } from "./assets";
import { within } from "../../base/queries";

const AssetPicker = lazyComponent(() => import("./AssetPicker"));

const words = catalogue("assets.imageField", { choose: "Choose image" });

/** ImageField adds the images of the account to a field for the address of an image: chosen, dropped or pasted. */
export function ImageField({
	onChange,
	className,
	readOnly,
	children,
}: {
	onChange: (url: string) => void;
	className?: string;
	readOnly?: boolean;
	children: ReactNode;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /assets");
	const [choosing, setChoosing] = useState(false);
	const [dragging, setDragging] = useState(false);
	const [busy, setBusy] = useState(false);
	const uploadFiles = async (file: File | undefined) => {
		if (!file || disabledReason) return;
		setBusy(true);
		try {
			onChange((await upload(file)).url);
			void client.invalidateQueries(within("assets"));
		} catch (error) {
			toast(explain(error), { tone: "danger" });
		} finally {
			setBusy(false);
		}
	};
	if (readOnly) return <div className={className}>{children}</div>;
	return (
		<>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: dropping and pasting are ways besides the button */}
			<div
				className={[className, css.over].filter(Boolean).join(" ")}
				data-over={dragging || undefined}
				onDragOver={(event) => {
					if (!hasFiles(event.dataTransfer)) return;
					event.preventDefault();
					setDragging(true);
				}}
				onDragLeave={() => setDragging(false)}
				onDrop={(event) => {
					setDragging(false);
					const [file] = imagesOf(event.dataTransfer);
					if (!file) return;
					event.preventDefault();
					void uploadFiles(file);
				}}
				onPasteCapture={(event) => {
					const [file] = imagesOf(event.clipboardData);
					if (!file) return;
					event.preventDefault();
					event.stopPropagation();
					void uploadFiles(file);
				}}
			>
				{children}
			</div>
			<div>
				<Button
					small
					icon={<Image aria-hidden />}
					disabledReason={disabledReason}
					busy={busy}
					onClick={() => setChoosing(true)}
				>
					{words.choose}
				</Button>
			</div>
			{choosing && (
				<Suspense fallback={null}>
					<AssetPicker
						onClose={() => setChoosing(false)}
						onPick={(asset) => {
							setChoosing(false);
							onChange(asset.url);
						}}
					/>
				</Suspense>
			)}
		</>
	);
}
